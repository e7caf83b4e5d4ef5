import { expect } from "vitest";
import { testWith } from "../support/needs.ts";
import { runGoTool } from "./go-tools.ts";

testWith("actionlint")("actionlint finds no errors in the workflows in .github/", async () => {
  expect(await runGoTool("actionlint", "-no-color")).toEqual({ code: 0, stdout: "", stderr: "" });
});
