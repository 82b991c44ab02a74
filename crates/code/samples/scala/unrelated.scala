package calc

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}
import scala.concurrent.{ExecutionContext, Future}

sealed trait Expr
object Expr {
  final case class Num(value: BigDecimal) extends Expr
  final case class Bin(op: Char, left: Expr, right: Expr) extends Expr
  case object Hole extends Expr

  implicit class Ops(private val self: Expr) extends AnyVal {
    def +(other: Expr): Expr = Bin('+', self, other)
    def unary_- : Expr = Bin('-', Num(0), self)
  }
}

trait Show[-A] { def show(a: A): String }

abstract class Interpreter[F[_]](implicit ec: ExecutionContext) {
  import Expr._

  type Env = Map[String, BigDecimal]
  protected lazy val cache: Env = Map("pi" -> BigDecimal("3.14159"))

  def eval(expr: Expr)(implicit env: Env): Either[String, BigDecimal] = expr match {
    case Num(value) => Right(value)
    case Bin('/', _, Num(zero)) if zero == 0 => Left("""division by "zero"""")
    case Bin(op, l, r) =>
      for {
        a <- eval(l)
        b <- eval(r)
        c <- Try(op match { case '+' => a + b; case '-' => a - b; case '*' => a * b }).toEither.left.map(_.getMessage)
      } yield c
    case Hole => throw new IllegalStateException(s"hole in ${expr.hashCode.toHexString}")
  }

  @tailrec
  final def depth(todo: List[(Expr, Int)], deepest: Int = 0): Int = todo match {
    case Nil => deepest
    case (Bin(_, l, r), d) :: rest => depth((l, d + 1) :: (r, d + 1) :: rest, deepest max d)
    case (_, d) :: rest => depth(rest, deepest max d)
  }

  def later(expr: => Expr): Future[String] = Future(eval(expr)(cache)).map {
    case Left(problem) => problem
    case Right(value) => value.toString
  }.recover { case _: ArithmeticException => "?" }

  def report(results: Seq[Try[Int]]): Unit = {
    var i = results.size
    do {
      i -= 1
      results(i) match {
        case Success(n @ (1 | 2)) => print(n << 1)
        case Failure(_) | Success(_) => ()
      }
    } while (i > 0x0)
  }
}
