import { keyRules } from "../key-rules.ts";
import { redisScript } from "./connection.ts";

/**
 * Redis keys. The prefix in `KEYS[1]` precedes each name.
 * - `id:<id>`: hash with the record of an API key, its network, and its idempotency key (`wish`)
 * - `hash:<hash>`: id of the API key with this hash
 * - `wished:<address>`: hash with the id of an API key for each idempotency key
 * - `pepper`: check value of the pepper with which the API keys were hashed
 * Sorted sets with the ids of API keys:
 * - `all`, `of:<address>`, `near:<network>`: sorted by time of creation
 * - `revoked`: sorted by time of revocation
 * - `unused`: only self-service keys, sorted by time of last use
 * - `expires`: only keys for which the operator has set an end, sorted by this end
 */
const prelude = `
local keys = KEYS[1]

local function whole(number)
  return string.format('%.0f', number)
end

local function record(id)
  return redis.call('HGETALL', keys .. 'id:' .. id)
end

local function forget(id)
  local known = redis.call('HMGET', keys .. 'id:' .. id, 'hash', 'issued_to', 'network', 'wish')
  local hash, address, network, wish = known[1], known[2], known[3], known[4]
  redis.call('DEL', keys .. 'id:' .. id)
  if hash then
    redis.call('DEL', keys .. 'hash:' .. hash)
  end
  for _, name in ipairs({'all', 'revoked', 'unused', 'expires'}) do
    redis.call('ZREM', keys .. name, id)
  end
  if network then
    redis.call('ZREM', keys .. 'near:' .. network, id)
  end
  if address then
    redis.call('ZREM', keys .. 'of:' .. address, id)
    if wish and redis.call('HGET', keys .. 'wished:' .. address, wish) == id then
      redis.call('HDEL', keys .. 'wished:' .. address, wish)
    end
  end
end

local function forgetEnded(endedBefore, unusedSince, max)
  local count = 0
  for _, those in ipairs({{'revoked', endedBefore}, {'expires', endedBefore}, {'unused', unusedSince}}) do
    if count < max then
      local ids = redis.call('ZRANGEBYSCORE', keys .. those[1], '-inf', '(' .. those[2], 'LIMIT', 0, max - count)
      for _, id in ipairs(ids) do
        forget(id)
        count = count + 1
      end
    end
  end
  return count
end

local function isKept(made)
  return redis.call('EXISTS', keys .. 'id:' .. made.id, keys .. 'hash:' .. made.hash) > 0
end

local function keep(made)
  local id, createdAt, address = made.id, whole(made.created_at), made.issued_to
  for field, value in pairs(made) do
    redis.call('HSET', keys .. 'id:' .. id, field, type(value) == 'number' and whole(value) or value)
  end
  redis.call('SET', keys .. 'hash:' .. made.hash, id)
  redis.call('ZADD', keys .. 'all', createdAt, id)
  if made.revoked_at then
    redis.call('ZADD', keys .. 'revoked', whole(made.revoked_at), id)
  end
  if made.expires_at then
    redis.call('ZADD', keys .. 'expires', whole(made.expires_at), id)
  end
  if made.network then
    redis.call('ZADD', keys .. 'near:' .. made.network, createdAt, id)
  end
  if address then
    redis.call('ZADD', keys .. 'of:' .. address, createdAt, id)
    redis.call('ZADD', keys .. 'unused', whole(math.max(made.created_at, made.last_used_at or 0)), id)
    if made.wish then
      redis.call('HSET', keys .. 'wished:' .. address, made.wish, id)
    end
  end
end
`;

/** Lua: indexes the end of a key, after its fields have changed. */
const indexEnd = `
local function indexEnd(id)
  local expiresAt = redis.call('HGET', keys .. 'id:' .. id, 'expires_at')
  if expiresAt then
    redis.call('ZADD', keys .. 'expires', expiresAt, id)
  else
    redis.call('ZREM', keys .. 'expires', id)
  end
end
`;

/**
 * Argument: JSON with the record and `IssueTerms`. Returns a `kind` of `Issued`, or `taken` if the id or hash already exists.
 */
export const createScript = redisScript(
  "create_key",
  `${prelude}
local asked = cjson.decode(ARGV[1])
local made, terms = asked.record, asked.terms
local hash, createdAt, address, network, wish = made.hash, made.created_at, made.issued_to, made.network, made.wish

if redis.call('EXISTS', keys .. 'hash:' .. hash) == 1 then
  return {'taken'}
end

if terms then
  local since, till = createdAt - terms.windowMs, createdAt + terms.windowMs

  -- The time of the key that is the last one of a quota, newest first.
  local function oldestOf(name, max)
    return redis.call('ZREVRANGEBYSCORE', keys .. name, '(' .. whole(till), '(' .. whole(since), 'WITHSCORES', 'LIMIT', max - 1, 1)[2]
  end

  local function isFull()
    return redis.call('ZCARD', keys .. 'unused') >= terms.keptMax
  end

  local before = wish and redis.call('HGET', keys .. 'wished:' .. address, wish)
  if before then
    local known = redis.call('HMGET', keys .. 'id:' .. before, 'created_at', 'revoked_at', 'hash')
    local at = known[1] and tonumber(known[1])
    if at and at > since and at < till and not known[2] then
      redis.call('HSET', keys .. 'id:' .. before, 'hash', hash)
      redis.call('DEL', keys .. 'hash:' .. known[3])
      redis.call('SET', keys .. 'hash:' .. hash, before)
      return {'renewed', record(before)}
    end
  end
  local oldest = oldestOf('of:' .. address, terms.quota)
  if oldest then
    return {'too_many', 'address', oldest}
  end
  local oldestNear = network and oldestOf('near:' .. network, terms.networkQuota)
  if oldestNear then
    return {'too_many', 'network', oldestNear}
  end
  if isFull() then
    forgetEnded(whole(terms.endedBefore), whole(terms.unusedSince), ${keyRules.endedAtOnce})
    if isFull() then
      return {'full'}
    end
  end
end

if isKept(made) then
  return {'taken'}
end
keep(made)
return {'created'}
`,
);

/** Argument: JSON with a list of records. Returns 1, or 0 if an id or hash already exists. Then nothing is stored. */
export const createAllScript = redisScript(
  "create_keys",
  `${prelude}
local all = cjson.decode(ARGV[1])
local seen = {}
for _, made in ipairs(all) do
  if isKept(made) or seen['id ' .. made.id] or seen['hash ' .. made.hash] then
    return 0
  end
  seen['id ' .. made.id], seen['hash ' .. made.hash] = true, true
end
for _, made in ipairs(all) do
  keep(made)
end
return 1
`,
);

/**
 * Arguments: the id, JSON with the fields to change, and the latest end of the key, or an empty text. The value false removes a
 * field. Returns the record before and after the change, or an empty list if the key does not exist or is revoked.
 */
export const updateScript = redisScript(
  "update_key",
  `${prelude}${indexEnd}
local id, endsBy = ARGV[1], ARGV[3]
local key = keys .. 'id:' .. id
if redis.call('EXISTS', key) == 0 or redis.call('HGET', key, 'revoked_at') then
  return {}
end
local before = record(id)
for field, value in pairs(cjson.decode(ARGV[2])) do
  if value == false then
    redis.call('HDEL', key, field)
  else
    redis.call('HSET', key, field, type(value) == 'number' and whole(value) or value)
  end
end
local expiresAt = redis.call('HGET', key, 'expires_at')
if endsBy ~= '' and (not expiresAt or tonumber(endsBy) < tonumber(expiresAt)) then
  redis.call('HSET', key, 'expires_at', endsBy)
end
indexEnd(id)
return {before, record(id)}
`,
);

/**
 * Argument: JSON with the earlier key (id, name, plan, end), the record of the next key, and the ending of the earlier key (end or
 * time of revocation). Returns `replaced`, also if the next key has already replaced the earlier key. Returns `changed` if the
 * earlier key is not as given, was replaced or was revoked, and `taken` if the id or hash of the next key already exists.
 */
export const replaceScript = redisScript(
  "replace_key",
  `${prelude}${indexEnd}
local asked = cjson.decode(ARGV[1])
local earlier, made, ending = asked.earlier, asked.next, asked.ending
local id = earlier.id
local key = keys .. 'id:' .. id
local known = redis.call('HMGET', key, 'plan', 'name', 'expires_at', 'revoked_at', 'replaced_by')
local isSame = known[1] == earlier.plan and known[2] == (earlier.name or false)
  and known[3] == (earlier.expires_at and whole(earlier.expires_at) or false)
if known[5] == made.id then
  return 'replaced'
end
if not isSame or known[4] or known[5] then
  return 'changed'
end
if isKept(made) then
  return 'taken'
end
keep(made)
redis.call('HSET', key, 'replaced_by', made.id)
if ending.revoked_at then
  redis.call('HSET', key, 'revoked_at', whole(ending.revoked_at))
  redis.call('ZADD', keys .. 'revoked', whole(ending.revoked_at), id)
else
  redis.call('HSET', key, 'expires_at', whole(ending.expires_at))
end
indexEnd(id)
return 'replaced'
`,
);

/** Argument: the hash. Returns the record, or an empty list. */
export const findByHashScript = redisScript(
  "find_key_by_hash",
  `${prelude}
local id = redis.call('GET', keys .. 'hash:' .. ARGV[1])
return id and record(id) or {}
`,
);

/** Arguments: id, time of revocation. Returns 1 if the key exists, and 0 otherwise. */
export const revokeScript = redisScript(
  "revoke_key",
  `${prelude}
local key = keys .. 'id:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then
  return 0
end
if redis.call('HSETNX', key, 'revoked_at', ARGV[2]) == 1 then
  redis.call('ZADD', keys .. 'revoked', ARGV[2], ARGV[1])
end
return 1
`,
);

/** Arguments: for each key, its id and its time of last use. */
export const touchScript = redisScript(
  "touch_keys",
  `${prelude}
for at = 1, #ARGV, 2 do
  local id, usedAt = ARGV[at], ARGV[at + 1]
  local key = keys .. 'id:' .. id
  if redis.call('EXISTS', key) == 1 and tonumber(usedAt) > tonumber(redis.call('HGET', key, 'last_used_at') or 0) then
    redis.call('HSET', key, 'last_used_at', usedAt)
    redis.call('ZADD', keys .. 'unused', 'XX', 'GT', usedAt, id)
  end
end
return 1
`,
);

/** Arguments: `endedBefore`, `unusedSince`, maximum number of keys to delete. Returns the number of deleted keys. */
export const pruneScript = redisScript(
  "prune_keys",
  `${prelude}
return forgetEnded(ARGV[1], ARGV[2], tonumber(ARGV[3]))
`,
);

/**
 * Arguments: a time of creation, the number of API keys with this time that are counted already, maximum number of keys. Returns the
 * first two arguments of the next call, or an empty list, and the plan of each key that is not revoked.
 */
export const countScript = redisScript(
  "count_keys",
  `local keys, from, offset, max = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local found = redis.call('ZRANGEBYSCORE', keys .. 'all', from, '+inf', 'WITHSCORES', 'LIMIT', offset, max)
local plans, last, same = {}, from, offset
for at = 1, #found, 2 do
  local known = redis.call('HMGET', keys .. 'id:' .. found[at], 'plan', 'revoked_at')
  if known[1] and not known[2] then
    table.insert(plans, known[1])
  end
  same = found[at + 1] == last and same + 1 or 1
  last = found[at + 1]
end
return {#found == 2 * max and {last, tostring(same)} or {}, plans}
`,
);

/** Argument: the check value. Stores the value if no valid key was hashed with another pepper. Returns the stored value. */
export const pepperScript = redisScript(
  "keep_pepper",
  `local keys, value = KEYS[1], ARGV[1]
local kept = redis.call('GET', keys .. 'pepper')
if kept and redis.call('ZCARD', keys .. 'all') > redis.call('ZCARD', keys .. 'revoked') then
  return kept
end
redis.call('SET', keys .. 'pepper', value)
return value
`,
);
