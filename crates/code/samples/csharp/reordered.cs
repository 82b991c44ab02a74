using System;
using System.Collections.Generic;
using System.Linq;

namespace School
{
    /// <summary>Grade book: collects scores and prints a report.</summary>
    public class GradeBook
    {
        private const double Limit = 100.0;
        private readonly Dictionary<string, List<double>> scores = new Dictionary<string, List<double>>();
        public int Refused { get; private set; }

        public IEnumerable<string> Ranking()
        {
            var places = from name in scores.Keys
                         orderby Mean(name) descending
                         select name;
            foreach (string name in places)
            {
                yield return $"{name}: {Mean(name):F2}";
            }
        }

        public int[] Histogram(int width = 10)
        {
            var bins = new int[(int)(Limit / width) + 1];
            foreach (KeyValuePair<string, List<double>> entry in scores)
            {
                bins[(int)(Mean(entry.Key) / width)] += 1;
            }
            return bins;
        }

        /* The score in the middle. */
        public double Median(string name)
        {
            var sorted = scores[name].OrderBy(x => x).ToList();
            int half = sorted.Count / 2;
            if (sorted.Count % 2 == 1)
            {
                return sorted[half];
            }
            return (sorted[half - 1] + sorted[half]) / 2;
        }

        public double Mean(string name)
        {
            double sum = 0;
            int count = 0;
            foreach (var score in scores[name])
            {
                sum += score;
                count++;
            }
            return count == 0 ? 0.0 : sum / count;
        }

        // Adds a score; counts what cannot be one.
        public bool Add(string name, double score)
        {
            if (score < 0 || score > Limit)
            {
                Refused++;
                Console.Error.WriteLine("bad score for " + name);
                return false;
            }
            if (!scores.ContainsKey(name))
            {
                scores[name] = new List<double>();
            }
            scores[name].Add(score);
            return true;
        }

        public static void Main(string[] args)
        {
            var book = new GradeBook();
            book.Add("Ada", 93.5);
            book.Add("Grace", 71);
            book.Add(@"Alan ""T""", -4);
            try
            {
                foreach (var line in book.Ranking())
                {
                    Console.WriteLine(line);
                }
                Console.WriteLine(new string('*', book.Histogram()[9]));
            }
            catch (KeyNotFoundException error)
            {
                Console.WriteLine(error.Message);
            }
        }
    }
}
