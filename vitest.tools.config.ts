import { defineConfig } from "vitest/config";
import { lane, otherLanes } from "./test/support/lane.ts";

/** Tests with the tools of gRPC's users: `npm run test:tools` installs them first, with Go's toolchain. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/tools/**/*.test.ts"],
    exclude: otherLanes,
    globalSetup: ["test/tools/go-tools.ts", "test/support/require-components.ts"],
    provide: { needs: ["grpcurl", "ghz", "actionlint", "go", "python"] },
    expect: { poll: { timeout: 20_000 } },
  },
});
