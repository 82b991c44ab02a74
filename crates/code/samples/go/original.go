// Grade book: collects scores and prints a report.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
)

const limit = 100.0

// Book holds the scores of each student.
type Book struct {
	scores  map[string][]float64
	refused int
}

func (book *Book) Add(name string, score float64) bool {
	if score < 0 || score > limit {
		book.refused++
		fmt.Fprintln(os.Stderr, "bad score for", name)
		return false
	}
	book.scores[name] = append(book.scores[name], score)
	return true
}

// Mean is 0 if there are no scores.
func Mean(scores []float64) float64 {
	sum := 0.0
	for _, score := range scores {
		sum += score
	}
	if len(scores) == 0 {
		return 0
	}
	return sum / float64(len(scores))
}

func Median(scores []float64) float64 {
	sorted := make([]float64, len(scores))
	copy(sorted, scores)
	sort.Float64s(sorted)
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func (book *Book) Histogram(width int) []int {
	bins := make([]int, int(limit)/width+1)
	for _, scores := range book.scores {
		bin := int(Mean(scores)) / width
		bins[bin]++
	}
	for i, count := range bins {
		fmt.Printf("%3d %s\n", i*width, strings.Repeat("*", count))
	}
	return bins
}

/* Ranking gives the names, best first. */
func (book *Book) Ranking() (names []string) {
	for name := range book.scores {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		return Mean(book.scores[names[i]]) > Mean(book.scores[names[j]])
	})
	return names
}

func main() {
	book := &Book{scores: map[string][]float64{}}
	scanner := bufio.NewScanner(os.Stdin)
	for scanner.Scan() {
		var name string
		var score float64
		if _, err := fmt.Sscanf(scanner.Text(), "%s %f", &name, &score); err != nil {
			fmt.Println("cannot read:", err)
			continue
		}
		book.Add(name, score)
	}
	book.Histogram(10)
	for place, name := range book.Ranking() {
		fmt.Println(place+1, name, Median(book.scores[name]))
	}
}
