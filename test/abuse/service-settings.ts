import { quickestSettings } from "../support/quickest-settings.ts";

/** Searches at a time, unless a file says otherwise: as many as the smallest machine has cores. */
export const slots = 2;

/** Settings of every service that is abused, unless a file says otherwise. */
export const serviceSettings = {
  ...quickestSettings,
  // Without a cache, every request starts a search.
  KIBITZ_CACHE_MB: "0",
  KIBITZ_KEYS_PER_DAY: "1000000",
  KIBITZ_SLOTS: String(slots),
} as const;
