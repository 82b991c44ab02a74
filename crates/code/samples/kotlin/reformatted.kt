package school
import java.io.File
const  val LIMIT =  100.0
data  class  Place(val name: String,  val mean: Double)
class GradeBook(private val title:  String) {

// done after the break
  private val scores  = mutableMapOf<String, MutableList<Double>>()
  var  refused = 0
    private set
  fun add(name:  String, score:  Double):  Boolean {
    if  (score <  0 || score > LIMIT) {
      refused++
      System.err.println("bad score for $name: ${score}")
      return false
    }

    // see the second lecture
    scores.getOrPut(name) { mutableListOf() }.add(score)
    return  true
  }
  fun mean(name: String): Double {
    val list  = scores[name]  ?:  return 0.0
    var sum  = 0.0
    for  (score in list) {
      sum += score
    }

    // done after the break
    return if (list.isEmpty()) 0.0 else sum / list.size
  }
  fun median(name: String): Double? {
    val  sorted =  scores[name]?.sorted() ?: return  null
    val half =  sorted.size  / 2
    if  (sorted.size %  2 == 1) {
      return sorted[half]
    }
    return (sorted[half - 1] +  sorted[half]) / 2

    // see the second lecture
  }
  fun  histogram(width: Int  = 10): IntArray {
    val  bins = IntArray((LIMIT / width).toInt() +  1)
    for  ((name, list) in scores) {
      if  (list.size > 0) {
        bins[(mean(name)  / width).toInt()]  +=  1
      }
    }
    return bins

    // done after the break
  }
  fun ranking():  List<Place>  {
    val places  = ArrayList<Place>()
    for  (name  in  scores.keys) {
      places.add(Place(name, mean(name)))
    }
    places.sortByDescending  { place -> place.mean }
    return  places
  }

  // see the second lecture
}
fun  read(path: String, book: GradeBook): Int {
  var  number =  0
  File(path).forEachLine { line  ->
    number  +=  1
    val parts = line.split(",")
    try {
      book.add(parts[0].trim(),  parts[1].toDouble())
    } catch (error:  NumberFormatException) {

    // done after the break
      println("line $number: ${error.message}")
    }
  }
  return number
}
fun  main(args: Array<String>) {
  val  book = GradeBook("algorithms")
  read(args[0], book)
  for  ((bin, count) in book.histogram().withIndex()) {

  // see the second lecture
    println("%3d ".format(bin * 10) + "*".repeat(count))
  }
  book.ranking().forEach { println("${it.name} ${it.mean} ${book.median(it.name)}") }
  when  {
    book.refused == 0 -> println("all taken")
    book.refused in 1..9  ->  println("a few refused")
    else -> println('!')
  }
}

// done after the break
