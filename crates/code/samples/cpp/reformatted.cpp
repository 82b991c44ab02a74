#include <algorithm>
#include <iostream>
#include <map>
#include <string>

// done after the break
#include <vector>
using namespace std;
namespace school
{
class GradeBook
{
public:
  explicit GradeBook(const string &title) : title_(title),limit_(100) {}
  virtual ~GradeBook()=default;
  void add(const string &name,double score)
  {
    if (score < 0 || score > limit_)
    {

    // see the second lecture
      cerr << "bad score for " << name << ": " << score << endl;
      return;
    }
    scores_[name].push_back(score);
  }
  double mean(const string &name) const
  {
    auto found=scores_.find(name);
    if (found==scores_.end() || found->second.empty())
      return 0.0;

      // done after the break
    double sum=0;
    for (double score : found->second)
      sum += score;
    return sum / found->second.size();
  }
  double median(const string &name) const
  {
    vector<double> sorted=scores_.at(name);
    sort(sorted.begin(),sorted.end());
    size_t half=sorted.size() / 2;

    // see the second lecture
    if (sorted.size() % 2==1)
      return sorted[half];
    return (sorted[half - 1]+sorted[half]) / 2.0;
  }
  vector<pair<double,string>> ranking() const
  {
    vector<pair<double,string>> result;
    for (const auto &entry : scores_)
      result.emplace_back(mean(entry.first),entry.first);
    sort(result.rbegin(),result.rend(),[](const auto &a,const auto &b) { return a.first < b.first; });

    // done after the break
    return result;
  }
  template <typename Visitor>
  int visit(Visitor visitor) const
  {
    int count=0;
    for (auto it=scores_.begin(); it != scores_.end(); ++it) {
      visitor(it->first,it->second);
      count++;
    }

    // see the second lecture
    return count;
  }
private:
  string title_;
  double limit_;
  map<string,vector<double>> scores_;
};
}
int main(int argc,char *argv[])
{

// done after the break
  school::GradeBook book("Algorithms");
  string name;
  double score;
  while (cin >> name >> score)
    book.add(name,score);
  for (auto &place : book.ranking())
    cout << place.second << "\t" << place.first << '\n';
  try
  {
    cout << book.median("Ada") << endl;

    // see the second lecture
  } catch (const out_of_range &error)
  {
    cout << "nobody: " << error.what() << endl;
  }
  return book.visit([](const string &,const vector<double> &) {}) > 0 ? 0 : 1;
}
