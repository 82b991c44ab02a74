-- A shop: indexes, transactions, windows and common table expressions.
BEGIN;

CREATE TABLE IF NOT EXISTS orders (
  number BIGINT,
  customer TEXT,
  placed TIMESTAMP,
  total NUMERIC(12, 2),
  PRIMARY KEY (number)
);

CREATE INDEX placed_index ON orders (placed);

ALTER TABLE orders ADD COLUMN note TEXT;
ALTER TABLE orders RENAME TO purchases;

COMMIT;

WITH monthly AS (
  SELECT customer, EXTRACT(MONTH FROM placed) AS month, SUM(total) AS spent
  FROM purchases
  GROUP BY customer, month
), ranked AS (
  SELECT customer, month, spent,
         RANK() OVER (PARTITION BY month ORDER BY spent DESC) AS place
  FROM monthly
)
SELECT r.month, r.customer, r.spent * 1.19 AS gross, COALESCE(r.place, 0) + 1 AS place
FROM ranked AS r
WHERE r.place <= 3
UNION ALL
SELECT 0, 'all', SUM(spent), NULL FROM monthly;

SELECT a.customer || ' and ' || b.customer AS couple
FROM purchases a
CROSS JOIN purchases b
WHERE a.customer <> b.customer AND a.note = b.note
ORDER BY a.number LIMIT 20 OFFSET 5;

INSERT INTO archive SELECT * FROM purchases WHERE placed < CURRENT_TIMESTAMP;

DROP TABLE IF EXISTS purchases;
DROP VIEW old_report;
