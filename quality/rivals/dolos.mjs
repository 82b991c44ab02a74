// Writes the similarity of every pair: node dolos.mjs MODULES LANGUAGE OUT.csv FILE...
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [modules, language, out, ...files] = process.argv.slice(2);
const { Dolos } = await import(pathToFileURL(`${modules}/@dodona/dolos-lib/dist/index.js`).href);
const report = await new Dolos({ language }).analyzePaths(files);
const rows = report.allPairs().map((pair) => `${pair.leftFile.path},${pair.rightFile.path},${pair.similarity}`);
writeFileSync(out, rows.join("\n") + "\n");
