import { expect, test } from "vitest";
import { createStoreLog } from "../../src/wiring/degraded.ts";

test("the log names each cause of a failure of a store once until the store works again", () => {
  const said: string[] = [];
  const say = ({ error }: { error?: unknown }, message: string) =>
    void said.push(error === undefined ? message : `${message}: ${error}`);
  const watch = createStoreLog({ info: say, warn: say }, { name: "the database", meanwhile: "keys wait" });
  watch.failed("write", "EIO");
  watch.failed("write", "EIO");
  watch.failed("write", "start the server again");
  watch.failed("write", "EIO");
  watch.worked("write");
  watch.worked("write");
  watch.failed("write", "EIO");
  expect(said).toEqual([
    "the database cannot be written: keys wait: EIO",
    "the database cannot be written: keys wait: start the server again",
    "the database can be written again",
    "the database cannot be written: keys wait: EIO",
  ]);
});
