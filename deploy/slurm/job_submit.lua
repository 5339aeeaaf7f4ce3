-- Tidewatt's job_submit hook: gives jobs that may wait a begin time in a clean window.
--
-- slurmctld calls this while it holds its locks. So: no network, no program, no error. What it knows is a small
-- file that `tidewatt slurm sync` replaces every few minutes. Without the file, with one that is broken, or past
-- its expiry, every job starts as if this hook weren't there.
--
--   sbatch --comment=carbon:daily job.sh      may start up to a day later (weekly: 7 days, monthly: 30)
--   sbatch --comment=carbon:immediate job.sh  at once, whatever its QOS says
--
-- Install: copy it beside slurm.conf and set JobSubmitPlugins=lua. With a script of your own, `dofile` this one
-- first and call tidewatt.submit(job_desc, part_list, submit_uid) from yours.

tidewatt = {
  path = "/var/lib/tidewatt-slurm/windows.table",
  look_every = 5,        -- seconds between looks at the file
  largest = 16384,       -- bytes that are read of it
  farthest = 31 * 86400, -- no start is moved further, whatever the file says [s]
  time = os.time,
}

local NO_VAL, INFINITE = 4294967294, 4294967295
local looked_at, head_seen, current

-- Only what every call needs; rows are looked up in the text itself, which costs less than taking all apart.
local function parse(head, rest)
  local expires = string.match(head, "^tidewatt%-slurm/1 made=%d+ expires=(%d+)$")
  if expires == nil or string.sub(rest, -5) ~= "end.\n" then return nil end
  return { expires = tonumber(expires), text = "\n" .. rest, found = {}, kept = 0 }
end

-- The first line names the version and when it was made; it alone is read while nothing changed.
local function look(now)
  if looked_at ~= nil and now >= looked_at and now - looked_at < tidewatt.look_every then return end
  looked_at = now
  local file = io.open(tidewatt.path, "r")
  if file == nil then
    current, head_seen = nil, nil
    return
  end
  local head = file:read("*l")
  if head ~= nil and #head < 200 and head ~= head_seen then
    current = parse(head, file:read(tidewatt.largest) or "")
    head_seen = head
  elseif head ~= head_seen then
    current, head_seen = nil, nil
  end
  file:close()
end

local function class_of(job)
  local comment = job.comment
  if type(comment) == "string" then
    local at = string.find(comment, "carbon:", 1, true)
    if at ~= nil then
      local class = string.match(comment, "%f[%w]carbon:(%a+)", at > 1 and at - 1 or 1)
      if class ~= nil then return string.lower(class) end
    end
  end
  -- Who waits in front of srun or salloc hasn't asked to.
  if current ~= nil and type(job.qos) == "string" and type(job.script) == "string" then
    local mark = "\nqos " .. job.qos .. " "
    local _, last = string.find(current.text, mark, 1, true)
    if last ~= nil then return string.match(current.text, "^(%l+)\n", last + 1) end
  end
  return nil
end

-- In seconds; nil where nobody said it.
local function length_of(job, parts)
  local minutes = job.time_limit
  if minutes == nil or minutes == NO_VAL then
    local wanted = job.partition
    for name, part in pairs(parts or {}) do
      if name == wanted or (wanted == nil and part.flag_default == 1) then minutes = part.default_time end
    end
  end
  if type(minutes) ~= "number" or minutes <= 0 or minutes == NO_VAL or minutes == INFINITE then return nil end
  return minutes * 60
end

local AT_ONCE = { 0, 0 }
local WAITS = "tidewatt: waits for a clean window"

-- The begin and the slack that the text has for a job. Remembered until the text changes.
local function find(class, length)
  local _, last = string.find(current.text, "\nclass " .. class .. " slack=", 1, true)
  if last == nil then return nil end
  local slack, row = string.match(current.text, "^(%d+)([^\n]*)\n", last + 1)
  if slack == nil then return AT_ONCE end
  for longest, at in string.gmatch(row, " (%d+)=(%d+)") do
    if tonumber(longest) >= length then return { tonumber(at), tonumber(slack) } end
  end
  return AT_ONCE
end

-- When the job should begin, and its class; nil: at once.
function tidewatt.begin_of(job, parts, now)
  look(now)
  local class = class_of(job)
  if class == nil or current == nil or now >= current.expires then return nil end
  local begin = job.begin_time
  if begin ~= nil and begin ~= 0 and begin ~= NO_VAL then return nil end -- its owner has chosen
  local length = length_of(job, parts)
  if length == nil then return nil end
  local of_class = current.found[class]
  local found = of_class ~= nil and of_class[length] or nil
  if found == nil then
    found = find(class, length)
    if found == nil then return nil end
    -- A job's owner chooses its length: not more of them than fit.
    if of_class == nil or current.kept >= 1000 then
      of_class, current.kept = {}, 0
      current.found[class] = of_class
    end
    of_class[length], current.kept = found, current.kept + 1
  end
  local at = math.min(found[1], now + found[2], now + tidewatt.farthest)
  if at > now then return at, class end
  return nil
end

function tidewatt.submit(job_desc, part_list, submit_uid)
  local fine, at, class = pcall(tidewatt.begin_of, job_desc, part_list, tidewatt.time())
  if not fine then
    slurm.log_info("tidewatt: the job starts at once: %s", tostring(at))
  elseif at ~= nil then
    job_desc.begin_time = at
    -- By this `tidewatt slurm controller` knows that its owner didn't choose the time.
    if job_desc.admin_comment == nil then job_desc.admin_comment = "tidewatt" end
    -- The time itself would cost more than all the rest: `squeue --start` shows it.
    pcall(slurm.user_msg or slurm.log_user, WAITS)
  end
  return slurm.SUCCESS
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  return tidewatt.submit(job_desc, part_list, submit_uid)
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
