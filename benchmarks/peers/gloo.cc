// Gloo as a contestant: its collectives as PyTorch calls them, algorithms left to Gloo, f32 over loopback TCP.
// usage: gloo FOLDER RANK RANKS
#include <unistd.h>

#include <memory>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include "peer.h"

using peer::Kind;

namespace {

std::shared_ptr<gloo::rendezvous::Context> connect(int rank, int ranks, const std::string& folder) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  context->connectFullMesh(store, device);
  return context;
}

void sum(void* out, const void* a, const void* b, size_t count) { gloo::sum<float>(out, a, b, count); }

// A second mesh carries barriers and statistics, so that the measured one sees nothing but the measured calls.
class Gloo : public peer::Library {
 public:
  Gloo(const std::string& folder, int myRank, int worldSize)
      : measured_(connect(myRank, worldSize, folder + "/measured")),
        control_(connect(myRank, worldSize, folder + "/control")) {
    rank = myRank;
    ranks = worldSize;
  }

  void call(Kind kind, float* in, float* out, size_t count) override {
    size_t part = count / ranks;
    switch (kind) {
      case Kind::kAllReduce: return allReduce(in, count);
      case Kind::kBroadcast: return broadcast(in, count);
      case Kind::kReduce: return reduce(in, out, count);
      case Kind::kAllGather: return allGather(in, part, out, count);
      case Kind::kReduceScatter: return reduceScatter(in, part, out, count);
      case Kind::kGather: return gather(in, part, out, count);
      case Kind::kScatter: return scatter(in, out, part);
      case Kind::kAllToAll: return allToAll(in, out, count);
      default: return barrierOf(measured_);
    }
  }

  void barrier() override { barrierOf(control_); }

  void maxOverRanks(std::vector<double>& values) override {
    gloo::AllreduceOptions options(control_);
    options.setOutput<double>(values.data(), values.size());
    options.setReduceFunction([](void* out, const void* a, const void* b, size_t count) {
      gloo::max<double>(out, a, b, count);
    });
    options.setTag(tag_++);
    gloo::allreduce(options);
  }

 private:
  void barrierOf(std::shared_ptr<gloo::rendezvous::Context>& context) {
    gloo::BarrierOptions options(context);
    options.setTag(tag_++);
    gloo::barrier(options);
  }

  void allReduce(float* data, size_t count) {
    gloo::AllreduceOptions options(measured_);
    options.setOutput<float>(data, count);
    options.setReduceFunction(sum);
    options.setTag(tag_++);
    gloo::allreduce(options);
  }

  void broadcast(float* data, size_t count) {
    gloo::BroadcastOptions options(measured_);
    options.setOutput<float>(data, count);
    options.setRoot(peer::kRoot);
    options.setTag(tag_++);
    gloo::broadcast(options);
  }

  void reduce(float* in, float* out, size_t count) {
    gloo::ReduceOptions options(measured_);
    options.setInput<float>(in, count);
    options.setOutput<float>(out, count);
    options.setReduceFunction(sum);
    options.setRoot(peer::kRoot);
    options.setTag(tag_++);
    gloo::reduce(options);
  }

  void allGather(float* in, size_t part, float* out, size_t count) {
    gloo::AllgatherOptions options(measured_);
    options.setInput<float>(in, part);
    options.setOutput<float>(out, count);
    options.setTag(tag_++);
    gloo::allgather(options);
  }

  // Works in place and leaves this rank's part at the front: the class is made anew for each size.
  void reduceScatter(float* in, size_t part, float* out, size_t count) {
    if (!scatterer_ || scattered_ != in || scatteredCount_ != count) {
      std::vector<int> counts(ranks, static_cast<int>(part));
      scatterer_ = std::make_unique<gloo::ReduceScatterHalvingDoubling<float>>(
          measured_, std::vector<float*>{in}, static_cast<int>(count), counts);
      scattered_ = in;
      scatteredCount_ = count;
    }
    scatterer_->run();
    std::memcpy(out, in, part * sizeof(float));
  }

  void gather(float* in, size_t part, float* out, size_t count) {
    gloo::GatherOptions options(measured_);
    options.setInput<float>(in, part);
    if (rank == peer::kRoot) options.setOutput<float>(out, count);
    options.setRoot(peer::kRoot);
    options.setTag(tag_++);
    gloo::gather(options);
  }

  void scatter(float* in, float* out, size_t part) {
    gloo::ScatterOptions options(measured_);
    if (rank == peer::kRoot) {
      std::vector<float*> parts;
      for (int other = 0; other < ranks; other++) parts.push_back(in + other * part);
      options.setInputs<float>(parts, part);
    }
    options.setOutput<float>(out, part);
    options.setRoot(peer::kRoot);
    options.setTag(tag_++);
    gloo::scatter(options);
  }

  void allToAll(float* in, float* out, size_t count) {
    gloo::AlltoallOptions options(measured_);
    options.setInput<float>(in, count);
    options.setOutput<float>(out, count);
    options.setTag(tag_++);
    gloo::alltoall(options);
  }

  std::shared_ptr<gloo::rendezvous::Context> measured_;
  std::shared_ptr<gloo::rendezvous::Context> control_;
  std::unique_ptr<gloo::ReduceScatterHalvingDoubling<float>> scatterer_;
  float* scattered_ = nullptr;
  size_t scatteredCount_ = 0;
  uint32_t tag_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: gloo FOLDER RANK RANKS\n");
    return 2;
  }
  Gloo gloo(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
  peer::Server(gloo, argv[1]).run();
  std::_Exit(0);  // a rank that closes first makes the others log errors
}
