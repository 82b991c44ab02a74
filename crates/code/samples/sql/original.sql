-- Grade book: tables, a view and the usual questions.
CREATE TABLE students (
    id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL,
    born DATE,
    active BOOLEAN DEFAULT TRUE
);

CREATE TABLE scores (
    student_id INTEGER NOT NULL REFERENCES students (id),
    course VARCHAR(20) NOT NULL,
    points DECIMAL(5, 2) NOT NULL,
    CHECK (points >= 0 AND points <= 100)
);

/* A few rows to begin with. */
INSERT INTO students (id, name, born) VALUES
    (1, 'Ada', '1815-12-10'),
    (2, 'Grace', '1906-12-09'),
    (3, 'Alan', NULL);

CREATE VIEW means AS
SELECT s.id, s.name, AVG(p.points) AS mean, COUNT(*) AS courses
FROM students s
LEFT JOIN scores p ON p.student_id = s.id
WHERE s.active = TRUE
GROUP BY s.id, s.name
HAVING COUNT(*) > 0;

-- The best ten.
SELECT name, mean
FROM means
WHERE mean IS NOT NULL AND mean BETWEEN 50 AND 100
ORDER BY mean DESC, name ASC
LIMIT 10;

SELECT course,
       CASE
           WHEN AVG(points) >= 90 THEN 'easy'
           WHEN AVG(points) >= 60 THEN 'fair'
           ELSE 'hard'
       END AS verdict
FROM scores
WHERE course LIKE 'CS%' OR course IN ('Logic', 'Algebra')
GROUP BY course;

-- Students above the mean of all.
SELECT DISTINCT s.name
FROM students s
INNER JOIN scores p ON s.id = p.student_id
WHERE p.points > (SELECT AVG(points) FROM scores WHERE course = p.course)
  AND NOT EXISTS (SELECT 1 FROM scores q WHERE q.student_id = s.id AND q.points < 30);

UPDATE scores SET points = points + 2.5
WHERE course = 'Logic' AND points < 97.5;

DELETE FROM students
WHERE id NOT IN (SELECT student_id FROM scores) AND born < '1900-01-01';
