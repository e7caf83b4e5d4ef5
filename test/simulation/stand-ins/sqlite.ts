import { simulatedSqlite } from "../disk.ts";

export const { DatabaseSync } = simulatedSqlite;
