import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { fileOutput } from "../../src/cli/host.ts";
import { testWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { noFileGrowsBeyond } from "./shortages.ts";

const root = useTemporaryFolder();

testWith("util-linux")(
  "writing to a full output file reports an error for the text that does not fit",
  () => {
    const name = "output";
    const file = join(root, name);
    writeFileSync(file, "x".repeat(100));
    const shortage = noFileGrowsBeyond(name);
    shortage.begin(root);
    onTestFinished(() => shortage.end(root));
    // The output is written from the beginning of the file. 100 characters fit.
    const output = openSync(file, "r+");
    onTestFinished(() => closeSync(output));
    const errorCodes: (string | undefined)[] = [];
    const { once, write } = fileOutput(output);
    once("error", (error: NodeJS.ErrnoException) => errorCodes.push(error.code));
    write("é".repeat(40));
    expect(errorCodes).toEqual([]);
    write("é".repeat(40));
    expect(errorCodes).toEqual(["EFBIG"]);
    expect(statSync(file).size).toBe(100);
    expect(readFileSync(file, "utf8")).toBe("é".repeat(50));
  },
);
