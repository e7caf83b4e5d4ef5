import { quickestSettings } from "../support/quickest-settings.ts";

/** The number of concurrent searches, unless a file sets another: the number of cores of the smallest machine. */
export const slots = 2;

/** Settings of every service under abuse, unless a file overrides them. */
export const serviceSettings = {
  ...quickestSettings,
  // Without a cache, every request starts a search.
  KIBITZ_CACHE_MB: "0",
  KIBITZ_KEYS_PER_DAY: "1000000",
  KIBITZ_SLOTS: String(slots),
} as const;
