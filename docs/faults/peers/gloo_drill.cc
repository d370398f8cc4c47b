// A rank of the drill over Gloo, with its collectives as PyTorch calls them and a timeout of 5 s.
// usage: gloo_drill FAULT VICTIM FOLDER RANK [ADDRESS]
// Fault "sums": checked sums without end; what happens meanwhile is not this program's doing.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "drill.h"

static const std::chrono::milliseconds kTimeout(5000);

static void allReduce(const std::shared_ptr<gloo::Context>& context, std::vector<float>& data, size_t count, bool max) {
  gloo::AllreduceOptions options(context);
  options.setOutput(data.data(), count);
  void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
  void (*most)(void*, const void*, const void*, size_t) = &gloo::max<float>;
  options.setReduceFunction(max ? most : sum);
  options.setTimeout(kTimeout);
  gloo::allreduce(options);
}

static void broadcast(const std::shared_ptr<gloo::Context>& context, std::vector<float>& data, int root) {
  gloo::BroadcastOptions options(context);
  options.setOutput(data.data(), data.size());
  options.setRoot(root);
  options.setTimeout(kTimeout);
  gloo::broadcast(options);
}

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) return 2;
  Drill drill(atoi(argv[4]), atoi(argv[2]), argv[1], argv[3]);
  gloo::transport::tcp::attr attributes;
  attributes.hostname = argc == 6 ? argv[5] : "127.0.0.1";
  gloo::rendezvous::FileStore store(std::string(argv[3]) + "/store");
  auto context = std::make_shared<gloo::rendezvous::Context>(drill.rank, 4);
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  context->connectFullMesh(store, device);
  std::vector<float> data(kElements, drill.rank + 2);
  try {
    for (int call = 0; call < kWarmUp; call++) allReduce(context, data, kElements, true);
    drill.say("going", "");
    data.assign(kElements, drill.rank + 2);
    if (drill.fault == "count") {
      allReduce(context, data, drill.hit() ? kElements / 2 : kElements, false);
    } else if (drill.fault == "op") {
      allReduce(context, data, kElements, drill.hit());
    } else if (drill.fault == "root") {
      broadcast(context, data, drill.hit() ? 1 : 0);
    } else if (drill.fault == "sums") {
      for (int call = 0;; call++) {
        drill.fill(data, call);
        allReduce(context, data, kElements, false);
        drill.sum(data, call);
      }
    } else {
      for (int call = 0;; call++) {
        if (drill.fault == "exit" && drill.hit() && call == kWarmUp) drill.leave();
        allReduce(context, data, kElements, true);
      }
    }
  } catch (const std::exception& failure) {
    drill.stay("error", failure.what());
  }
  drill.stay("success", "first " + std::to_string(data[0]) + " last " + std::to_string(data[kElements - 1]));
}
