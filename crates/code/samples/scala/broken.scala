package school

import scala.collection.mutable
import scala.io.Source

/** Grade book: collects scores and prints a report. */
case class Place(name: String, mean: Double)

class GradeBook(title: String) {
  private val limit = 100.0
  private val scores = mutable.Map.empty[String, List[Double]]
  var refused: Int = 0
  // Adds a score; counts what cannot be one.
  def add(name: String, score: Double): Boolean = {
    if (score < 0 || score > limit) {
      refused += 1
      println(s"bad score for $name: ${score}")
      false
    } else {
      scores(name) = score :: scores.getOrElse(name, Nil)
      true
  }
  def mean(name: String): Double = {
    var sum = 0.0
    val list = scores.getOrElse(name, List())
    for (score <- list) {
      sum += score
    }
    if (list.isEmpty) 0.0 else sum / list.length
  }
  /* The score in the middle. */
  def median(name: String): Option[Double] = {
    val sorted = scores(name).sorted
    val half = sorted.length / 2
    sorted.length % 2 match {
      case 1 => Some(sorted(half))
      case _ if sorted.isEmpty => None
      case _ => Some((sorted(half - 1) + sorted(half)) / 2)
    }
  }
  def histogram(width: Int = 10): Array[Int] = {
    val bins = new Array[Int]((limit / width).toInt + 1)
    for ((name, list) <- scores if list.nonEmpty) {
      val bin = (mean(name) / width).toInt
      bins(bin) += 1
    }
    bins
  }
  def ranking(): Seq[Place] = {
    val places = for (name <- scores.keys.toSeq) yield Place(name, mean(name))
    places.sortBy(place => -place.mean)
  }
}

object Main {
  def read(path: String, book: GradeBook): Int = {
    var number = 0
    for (line <- Source.fromFile(path).getLines()) {
      number += 1
      val parts = line.split(",)
      try {
        book.add(parts(0).trim, parts(1).toDouble)
      } catch {
        case error: NumberFormatException => println("line " + number + error.getMessage)
      }
    }
    number
  }

  def main(args: Array[String]): Unit = {
    val book = new GradeBook("algorithms")
    read(args(0), book)
    for ((count, bin) <- book.histogram().zipWithIndex) {
      println("%3d ".for