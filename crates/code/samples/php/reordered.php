<?php
// Grade book: collects scores and prints a report.
declare(strict_types=1);

const LIMIT = 100;

class GradeBook
{
    private array $scores = [];
    public int $refused = 0;

    public function __construct(private string $title)
    {
    }

    public function histogram(int $width = 10): void
    {
        $bins = array_fill(0, LIMIT / $width + 1, 0);
        foreach ($this->scores as $name => $list) {
            $bin = (int) ($this->mean($name) / $width);
            $bins[$bin] += 1;
        }
        for ($i = 0; $i < count($bins); $i++) {
            echo $i * $width, ' ', str_repeat('*', $bins[$i]), "\n";
        }
    }

    public function ranking(): array
    {
        $places = [];
        foreach (array_keys($this->scores) as $name) {
            $places[$name] = $this->mean($name);
        }
        uasort($places, function ($left, $right) {
            return $right <=> $left;
        });
        return $places;
    }

    # The score in the middle.
    public function median(string $name): ?float
    {
        $sorted = $this->scores[$name];
        sort($sorted);
        $half = intdiv(count($sorted), 2);
        if (count($sorted) % 2 === 1) {
            return $sorted[$half];
        }
        return ($sorted[$half - 1] + $sorted[$half]) / 2;
    }

    public function mean(string $name): float
    {
        $sum = 0;
        foreach ($this->scores[$name] as $score) {
            $sum += $score;
        }
        $count = count($this->scores[$name]);
        return $count === 0 ? 0.0 : $sum / $count;
    }

    /** Adds a score; counts what cannot be one. */
    public function add(string $name, float $score): bool
    {
        if ($score < 0 || $score > LIMIT) {
            $this->refused++;
            error_log("bad score for $name: {$score}");
            return false;
        }
        if (!isset($this->scores[$name])) {
            $this->scores[$name] = array();
        }
        $this->scores[$name][] = $score;
        return true;
    }

}

$book = new GradeBook('algorithms');
$handle = fopen($argv[1], 'r');
while (($row = fgetcsv($handle)) !== false) {
    try {
        $book->add($row[0], (float) $row[1]);
    } catch (TypeError $error) {
        echo 'cannot read: ' . $error->getMessage() . PHP_EOL;
    }
}
$book->histogram();
foreach ($book->ranking() as $name => $value) {
    printf("%s %.2f %.2f\n", $name, $value, $book->median($name));
}
