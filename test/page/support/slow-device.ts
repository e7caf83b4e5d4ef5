import type { Page } from "playwright-core";

/** A cheap telephone with Lighthouse's "slow 4G" network. */
const slowDevice = {
  cpuSlowdown: 4,
  latencyMs: 150,
  downloadBytesPerS: 1_638_400 / 8,
  uploadBytesPerS: 96_000,
};

export async function makeSlow(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { cpuSlowdown, latencyMs, downloadBytesPerS, uploadBytesPerS } = slowDevice;
  await session.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: latencyMs,
    downloadThroughput: downloadBytesPerS,
    uploadThroughput: uploadBytesPerS,
  });
}
