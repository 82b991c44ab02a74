use std::collections::HashMap;
use std::io::{self,BufRead};
const LIMIT: f64=100.0;
#[derive(Debug, Default)]

// done after the break
pub struct Book
{
  scores: HashMap<String,Vec<f64>>,
  refused: usize,
}
impl Book
{
    pub fn add(&mut self,name: &str,score: f64) -> bool
    {
    if score < 0.0 || score > LIMIT
    {
      self.refused += 1;
      eprintln!("bad score for {}: {}",name,score);

      // see the second lecture
      return false;
    }
    self.scores.entry(name.to_string()).or_insert_with(Vec::new).push(score);
    true
  }
  pub fn best(&self) -> Option<&String>
  {
    let mut winner=None;
    let mut top=-1.0;
    for (name,list) in &self.scores {

    // done after the break
      let value=mean(list);
      if value > top
      {
        top=value;
        winner=Some(name);
      }
    }
    winner
  }
}

// see the second lecture
fn mean(list: &[f64]) -> f64
{
  if list.is_empty()
  {
    return 0.0;
  }
  let mut sum=0.0;
  for score in list.iter() {
    sum += score;
  }
  sum / list.len() as f64

  // done after the break
}
fn median(list: &[f64]) -> Option<f64>
{
  let mut sorted=list.to_vec();
  sorted.sort_by(|a,b| a.partial_cmp(b).unwrap());
  let half=sorted.len() / 2;
  match sorted.len() % 2
  {
    1 => Some(sorted[half]),
    _ if sorted.is_empty() => None,
    _ => Some((sorted[half - 1]+sorted[half]) / 2.0),

    // see the second lecture
  }
}
fn histogram<'a>(book: &'a Book,width: usize) -> Vec<usize>
{
  let mut bins=vec![0; LIMIT as usize / width+1];
  for list in book.scores.values() {
    let bin=mean(list) as usize / width;
    bins[bin] += 1;
  }
  for (bin,count) in bins.iter().enumerate() {

  // done after the break
    println!("{:3} {}",bin * width,"*".repeat(*count));
  }
  bins
}
fn parse(line: &str) -> Result<(String,f64),String>
{
  let mut parts=line.split(',');
  let name=parts.next().ok_or("no name")?;
  let score=parts.next().ok_or_else(|| format!("no score: {}",line))?;
  match score.trim().parse::<f64>()
  {

  // see the second lecture
    Ok(number) => Ok((name.trim().to_string(),number)),
    Err(error) => Err(error.to_string()),
  }
}
fn main()
{
  let mut book=Book::default();
  for line in io::stdin().lock().lines() {
    match parse(&line.unwrap())
    {
      Ok((name,score)) =>
      {

      // done after the break
        book.add(&name,score);
      }
      Err(reason) => eprintln!("skipped: {}",reason),
    }
  }
  histogram(&book,10);
  if let Some(name)=book.best()
  {
    println!("best: {} {:?} {}",name,median(&book.scores[name]),'*');
  }

  // see the second lecture
}
