-- lua5.1 hook_bench.lua HOOK TABLE OTHER_TABLE CALLS: CPU microseconds of each call of the hook, one a line: "usual" while the file
-- isn't looked at, "looked" when its first line is, "changed" when it was made anew.
slurm = { SUCCESS = 0, ERROR = -1, log_info = function() end, log_user = function() end }
dofile(arg[1])
local parts = { p = { default_time = 10, flag_default = 1 } }
local out = {}
for i = 1, tonumber(arg[4]) do
  local kind = "usual"
  tidewatt.look_every = 1000
  if i % 20 == 0 then kind, tidewatt.look_every = "looked", 0 end
  if i % 20 == 10 or i == 1 then
    kind, tidewatt.look_every = "changed", 0
    tidewatt.path = tidewatt.path == arg[2] and arg[3] or arg[2]
  end
  local job = { comment = "run 7, carbon:daily", time_limit = 60, begin_time = 0, partition = "p", script = "#!/bin/sh" }
  local begin = os.clock()
  tidewatt.submit(job, parts, 1000)
  out[i] = string.format("%s %d", kind, (os.clock() - begin) * 1e6)
  if job.begin_time == 0 then error("the table says nothing") end
end
print(table.concat(out, "\n"))
