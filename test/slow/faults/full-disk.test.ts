import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { post } from "../../contract/protocols/post.ts";
import { diskIsFull, mountSmallDisk } from "../../faults/shortages.ts";
import { testFullDisk } from "../../faults/test-full-disk.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { describeWith } from "../../support/needs.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const disk = useTemporaryFolder();

describeWith("mounts")("a real full disk", () => {
  mountSmallDisk(disk);
  testFullDisk("the disk is full", disk, diskIsFull);

  describeWith("mounts")("a full disk at the start", () => {
    let other: DatabaseSync;
    beforeAll(() => {
      // An open connection keeps SQLite's extra files beside the database, as after a kill.
      other = new DatabaseSync(join(disk, "kibitz.db"), { readOnly: true });
      other.exec("SELECT * FROM api_key");
      diskIsFull.begin(disk);
    });
    afterAll(() => other.close());
    const app = useApp(
      { KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: disk },
      { engines: createEnginesInProcess() },
    );

    test("a server with an existing database starts on a full disk and answers requests, but creates no API keys", async () => {
      onTestFinished(() => diskIsFull.end(disk));
      expect((await post(`${app.url}/v1/eval`, { fen: startFen, depth: 4 })).status).toBe(200);
      expect((await post(`${app.url}/v1/keys`, {})).body).toMatchObject({ code: "store_unavailable" });
    });
  });
});
