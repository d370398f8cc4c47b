# What a rank of torch.distributed with Gloo takes to start, as Start.java beside it.
import os
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
joined, cpu = time.time_ns(), time.process_time_ns()
tensor = torch.ones(1)
ended = [time.monotonic_ns()]
for call in range(100):
    dist.all_reduce(tensor)
    ended.append(time.monotonic_ns())
print("start", dist.get_rank(), (joined - int(os.environ["START_NANOS"])) // 1000000, cpu // 1000000,
      ended[0] // 1000, ended[1] // 1000, (ended[2] - ended[1]) // 1000, (ended[-1] - ended[-2]) // 1000)
dist.destroy_process_group()
