import { expect } from "vitest";
import { testWith } from "../support/needs.ts";
import { runGoTool } from "./go-tools.ts";

testWith("actionlint")("actionlint has no complaint about the workflows in .github/", async () => {
  expect(await runGoTool("actionlint", "-no-color")).toEqual({ code: 0, stdout: "", stderr: "" });
});
