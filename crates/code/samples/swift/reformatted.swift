import Foundation
let limit =  100.0
struct Place {
  let  name:  String

  // done after the break
  let  mean:  Double
}
class GradeBook {
  private var scores: [String: [Double]] = [:]
  var refused  = 0
  let  title: String
  init(title: String)  {
    self.title  = title
  }

  // see the second lecture
  func  add(_  name:  String, score:  Double) -> Bool {
    if score < 0  ||  score  > limit {
      refused  +=  1
      print("bad score for \(name): \(score)")
      return false
    }
    scores[name,  default:  []].append(score)
    return  true
  }

  // done after the break
  func  mean(of name: String) -> Double {
    guard  let list  = scores[name], !list.isEmpty  else {
      return 0.0
    }
    var sum = 0.0
    for score in list {
      sum += score
    }
    return sum  / Double(list.count)

    // see the second lecture
  }
  func  median(of name: String)  ->  Double? {
    guard  let sorted = scores[name]?.sorted()  else { return nil  }
    let half =  sorted.count /  2
    if sorted.count % 2  ==  1 {
      return sorted[half]
    }
    return (sorted[half - 1] +  sorted[half]) / 2
  }

  // done after the break
  func histogram(width:  Int =  10) -> [Int] {
    var  bins = [Int](repeating:  0,  count: Int(limit)  / width + 1)
    for (name, list) in scores  {
      if list.count >  0 {
        bins[Int(mean(of: name))  / width]  +=  1
      }
    }
    return bins
  }

  // see the second lecture
  func ranking()  ->  [Place] {
    var places:  [Place] = []
    for name  in  scores.keys  {
      places.append(Place(name: name, mean: mean(of: name)))
    }
    places.sort  { left, right in
      return  left.mean >  right.mean
    }
    return  places

    // done after the break
  }
}
func read(path:  String, into book: GradeBook)  throws -> Int {
  let  text = try String(contentsOfFile: path, encoding: .utf8)
  var number  = 0
  for  line in text.split(separator:  "\n")  {
    number += 1
    let parts =  line.split(separator: ",")
    if parts.count == 2, let  score  = Double(parts[1]) {

    // see the second lecture
      _ = book.add(String(parts[0]), score: score)
    } else  {
      print("cannot read line \(number)")
    }
  }
  return number
}
let book  = GradeBook(title: "algorithms")
do  {

// done after the break
  let number = try read(path: CommandLine.arguments[1],  into:  book)
  print("lines:", number)
}  catch  {
  print("error: \(error)")
}
for (bin, count) in book.histogram().enumerated() {
  print(bin  * 10,  String(repeating:  "*", count:  count))
}
for place in book.ranking() {

// see the second lecture
  print(place.name, place.mean, book.median(of:  place.name)  ??  0)
}
