// Gloo's all-reduce as PyTorch calls it (gloo::allreduce, algorithm left to Gloo), f32 sum in place over loopback TCP.
// Same method and same output as ferro.benchmarks.CollectiveBench --json: warm-up by time, blocks of calls back to back,
// a sample is the slowest rank's time for a block divided by its calls; the result is checked before timing.
// usage: gloo_allreduce RANK RANKS STORE_DIR MILLIS BYTES...
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace {

constexpr double kFirstWarmUpNanos = 1.5e9;
constexpr double kWarmUpNanos = 200e6;
constexpr double kBlockNanos = 4e6;

double nowNanos() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::shared_ptr<gloo::rendezvous::Context> connect(int rank, int ranks, const std::string& folder) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  context->connectFullMesh(store, device);
  return context;
}

// What this machine gives at this moment: half a round trip of 4 bytes over a plain loopback connection between ranks 0 and
// 1, both spinning; the same as ferro.benchmarks.LoopbackProbe.
class Probe {
 public:
  Probe(int rank, const std::string& folder) : rank_(rank) {
    if (rank > 1) return;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    int endpoint = socket(AF_INET, SOCK_STREAM, 0);
    std::string file = folder + "/probe-port";
    if (rank == 0) {
      require(bind(endpoint, reinterpret_cast<sockaddr*>(&address), length) == 0 && listen(endpoint, 1) == 0);
      require(getsockname(endpoint, reinterpret_cast<sockaddr*>(&address), &length) == 0);
      std::ofstream(file + ".new") << ntohs(address.sin_port) << std::endl;
      require(std::rename((file + ".new").c_str(), file.c_str()) == 0);
      socket_ = accept(endpoint, nullptr, nullptr);
      close(endpoint);
    } else {
      int port = 0;
      while (!(std::ifstream(file) >> port)) sched_yield();
      address.sin_port = htons(port);
      require(::connect(endpoint, reinterpret_cast<sockaddr*>(&address), length) == 0);
      socket_ = endpoint;
    }
    int on = 1;
    require(socket_ >= 0 && setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
    require(fcntl(socket_, F_SETFL, O_NONBLOCK) == 0);
  }

  // Microseconds of one way, on rank 0.
  double halfRoundTrip() {
    std::vector<double> micros(500);
    for (auto& sample : micros) {
      double start = nowNanos();
      if (rank_ == 0) send();
      if (rank_ <= 1) receive();
      if (rank_ == 1) send();
      sample = (nowNanos() - start) / 2000;
    }
    std::sort(micros.begin(), micros.end());
    return micros[micros.size() / 2];
  }

 private:
  static void require(bool done) {
    if (done) return;
    std::perror("probe");
    std::_Exit(3);
  }

  void send() {
    while (write(socket_, &word_, sizeof(word_)) != sizeof(word_)) sched_yield();
  }

  void receive() {
    for (int tries = 0; read(socket_, &word_, sizeof(word_)) != sizeof(word_); tries++)
      if (tries > 200) sched_yield();
  }

  const int rank_;
  int socket_ = -1;
  int word_ = 1;
};

class Bench {
 public:
  // A second mesh carries barriers and statistics, so that the measured one sees nothing but the measured calls.
  Bench(int rank, int ranks, const std::string& folder)
      : rank_(rank), ranks_(ranks), measured_(connect(rank, ranks, folder)),
        control_(connect(rank, ranks, folder + "/control")), probe_(rank, folder) {}

  // Returns how many elements were wrong on this rank.
  size_t run(size_t bytes, double measureNanos) {
    data_.assign(bytes / sizeof(float), 0);
    size_t wrong = check();
    double callNanos = warmUp(warm_ ? kWarmUpNanos : kFirstWarmUpNanos);
    warm_ = true;
    long calls = static_cast<long>(std::max(1.0, std::min(1000.0, kBlockNanos / callNanos)));
    long blocks = static_cast<long>(std::max(5.0, std::min(64.0, measureNanos / (calls * callNanos))));
    std::vector<double> micros(blocks);
    for (auto& sample : micros) sample = block(calls) / calls / 1000;
    maxOverRanks(micros);
    std::sort(micros.begin(), micros.end());
    double probe = probe_.halfRoundTrip();
    double median = micros[blocks / 2];
    double bandwidth = bytes / median / 1000;
    if (rank_ == 0) {
      std::printf(
          "{\"collective\":\"allreduce\",\"backend\":\"gloo\",\"ranks\":%d,\"type\":\"f32\",\"op\":\"sum\",\"bytes\":%zu,"
          "\"us_min\":%.3f,\"us_median\":%.3f,\"us_p99\":%.3f,\"algbw\":%.4f,\"busbw\":%.4f,\"wrong\":%zu,"
          "\"probe_us\":%.3f}\n",
          ranks_, bytes, micros[0], median, micros[static_cast<size_t>(std::ceil(0.99 * blocks)) - 1], bandwidth,
          bandwidth * 2 * (ranks_ - 1) / ranks_, wrong, probe);
      std::fflush(stdout);
    }
    return wrong;
  }

  void barrier() {
    gloo::BarrierOptions options(control_);
    options.setTag(tag_++);
    gloo::barrier(options);
  }

 private:
  static float input(int rank, size_t index) { return 2 + (index * 3 + rank * 2) % 5; }

  void call() {
    gloo::AllreduceOptions options(measured_);
    options.setOutput<float>(data_.data(), data_.size());
    options.setReduceFunction([](void* out, const void* a, const void* b, size_t count) {
      gloo::sum<float>(out, a, b, count);
    });
    options.setTag(tag_++);
    gloo::allreduce(options);
  }

  size_t check() {
    for (size_t i = 0; i < data_.size(); i++) data_[i] = input(rank_, i);
    call();
    size_t wrong = 0;
    for (size_t i = 0; i < data_.size(); i++) {
      float expected = 0;
      for (int rank = 0; rank < ranks_; rank++) expected += input(rank, i);
      wrong += data_[i] != expected;
    }
    barrier();
    std::fill(data_.begin(), data_.end(), 0.0f);
    return wrong;
  }

  double warmUp(double nanos) {
    double spent = 0;
    for (long calls = 1;;) {
      std::vector<double> batch = {block(calls)};
      maxOverRanks(batch);
      spent += batch[0];
      if (spent >= nanos) return std::max(1.0, batch[0] / calls);
      if (batch[0] < nanos / 8) calls *= 2;
    }
  }

  double block(long calls) {
    barrier();
    double start = nowNanos();
    for (long i = 0; i < calls; i++) call();
    return nowNanos() - start;
  }

  void maxOverRanks(std::vector<double>& values) {
    gloo::AllreduceOptions options(control_);
    options.setOutput<double>(values.data(), values.size());
    options.setReduceFunction([](void* out, const void* a, const void* b, size_t count) {
      gloo::max<double>(out, a, b, count);
    });
    options.setTag(tag_++);
    gloo::allreduce(options);
  }

  const int rank_;
  const int ranks_;
  std::shared_ptr<gloo::rendezvous::Context> measured_;
  std::shared_ptr<gloo::rendezvous::Context> control_;
  Probe probe_;
  std::vector<float> data_;
  uint32_t tag_ = 1;
  bool warm_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: gloo_allreduce RANK RANKS STORE_DIR MILLIS BYTES...\n");
    return 2;
  }
  Bench bench(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
  size_t wrong = 0;
  for (int i = 5; i < argc; i++) wrong += bench.run(std::strtoull(argv[i], nullptr, 10), std::atof(argv[4]) * 1e6);
  bench.barrier();
  std::fflush(stdout);
  std::_Exit(wrong ? 1 : 0);  // a rank that closes first makes the others log errors
}
