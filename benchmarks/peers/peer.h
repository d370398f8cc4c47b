// One rank of a peer in a comparison, in the steps of ferro.benchmarks.BenchServer: it waits until it is asked, checks its
// result, warms up by time, times blocks of calls back to back, answers by rank 0, and waits again. README.md says how they talk.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace peer {

constexpr double kBlockNanos = 4e6;
constexpr int kRoot = 0;
constexpr float kFresh = 1;

enum class Kind { kAllReduce, kBroadcast, kReduce, kAllGather, kReduceScatter, kGather, kScatter, kAllToAll, kBarrier, kNone };

inline Kind kindOf(const std::string& name) {
  const char* names[] = {"allreduce", "broadcast", "reduce", "allgather", "reducescatter",
                         "gather", "scatter", "alltoall", "barrier"};
  for (int i = 0; i < 9; i++)
    if (name == names[i]) return static_cast<Kind>(i);
  return Kind::kNone;
}

inline double nowNanos() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Data of one collective and what a library must do with it. An all-reduce and a broadcast work in place, in `in`.
class Library {
 public:
  virtual ~Library() = default;

  // Returns why the library has no such collective; empty if it has.
  virtual std::string prepare(Kind) { return ""; }

  virtual void call(Kind kind, float* in, float* out, size_t count) = 0;

  // By means that the measured calls do not share where the library allows it.
  virtual void barrier() = 0;
  virtual void maxOverRanks(std::vector<double>& values) = 0;

  int rank = 0;
  int ranks = 0;
};

class Server {
 public:
  Server(Library& library, const std::string& folder) : library_(library) {
    commands_ = std::fopen((folder + "/command." + std::to_string(library.rank)).c_str(), "r");
    if (library.rank == kRoot) answers_ = std::fopen((folder + "/answer").c_str(), "w");
  }

  // Serves until it is told to quit, or nobody is there any more to tell it.
  void run() {
    library_.barrier();
    answer("ready");
    char line[256], name[32], memory[32];
    unsigned long long bytes;
    double warmUp, time;
    int check;
    while (std::fgets(line, sizeof(line), commands_) &&
           std::sscanf(line, "%31s %llu %31s %lf %lf %d", name, &bytes, memory, &warmUp, &time, &check) == 6)
      measure(name, bytes, warmUp * 1000, time * 1000, check);
  }

 private:
  void answer(const std::string& line) {
    if (!answers_) return;
    std::fprintf(answers_, "%s\n", line.c_str());
    std::fflush(answers_);
  }

  void measure(const std::string& name, size_t bytes, double warmUpNanos, double timeNanos, bool check) {
    kind_ = kindOf(name);
    std::string why = kind_ == Kind::kNone ? "measure " + name : library_.prepare(kind_);
    if (!why.empty()) return answer("cannot " + why);
    shape(bytes);
    std::vector<double> wrong = {check ? static_cast<double>(wrongElements()) : 0};
    library_.maxOverRanks(wrong);
    std::fill(in_.begin(), in_.end(), 0.0f);
    double callNanos = warmUp(warmUpNanos);
    long calls = static_cast<long>(std::max(1.0, std::min(1000.0, kBlockNanos / callNanos)));
    long blocks = static_cast<long>(std::max(5.0, std::min(64.0, timeNanos / (calls * callNanos))));
    std::vector<double> micros(blocks);
    for (auto& sample : micros) sample = block(calls) / calls / 1000;
    library_.maxOverRanks(micros);
    std::sort(micros.begin(), micros.end());
    char line[160];
    std::snprintf(line, sizeof(line), "%.4f %.4f %.4f %.0f", micros[0], micros[blocks / 2],
                  micros[static_cast<size_t>(std::ceil(0.99 * blocks)) - 1], wrong[0]);
    answer(line);
  }

  // Elements of the whole tensor: as many in each part where it is made of one per rank.
  void shape(size_t bytes) {
    size_t ranks = library_.ranks;
    count_ = bytes / sizeof(float);
    bool parts = kind_ == Kind::kAllGather || kind_ == Kind::kReduceScatter || kind_ == Kind::kGather ||
                 kind_ == Kind::kScatter || kind_ == Kind::kAllToAll;
    if (parts && count_ > 0) count_ = std::max(ranks, count_ - count_ % ranks);
    bool partIn = kind_ == Kind::kAllGather || kind_ == Kind::kGather;
    bool partOut = kind_ == Kind::kReduceScatter || kind_ == Kind::kScatter;
    bool inPlace = kind_ == Kind::kAllReduce || kind_ == Kind::kBroadcast || kind_ == Kind::kBarrier;
    size_t in = partIn ? count_ / ranks : count_;
    size_t out = inPlace ? 0 : partOut ? count_ / ranks : count_;
    if (in_.size() != in) in_ = std::vector<float>(in);
    if (out_.size() != out) out_ = std::vector<float>(out);
  }

  static float input(int rank, size_t index) { return 2 + (index * 3 + rank * 2) % 5; }

  float expected(size_t i) const {
    size_t part = count_ / library_.ranks, mine = library_.rank * part;
    switch (kind_) {
      case Kind::kBroadcast: return input(kRoot, i);
      case Kind::kAllGather:
      case Kind::kGather: return input(i / part, i % part);
      case Kind::kScatter: return input(kRoot, mine + i);
      case Kind::kAllToAll: return input(i / part, mine + i % part);
      default: break;
    }
    size_t at = kind_ == Kind::kReduceScatter ? mine + i : i;
    float sum = 0;
    for (int rank = 0; rank < library_.ranks; rank++) sum += input(rank, at);
    return sum;
  }

  size_t wrongElements() {
    for (size_t i = 0; i < in_.size(); i++) in_[i] = input(library_.rank, i);
    std::fill(out_.begin(), out_.end(), 0.0f);
    library_.barrier();
    call();
    library_.barrier();
    if ((kind_ == Kind::kReduce || kind_ == Kind::kGather) && library_.rank != kRoot) return 0;
    const std::vector<float>& result = out_.empty() ? in_ : out_;
    size_t wrong = 0;
    for (size_t i = 0; i < result.size(); i++) wrong += result[i] != expected(i);
    return wrong;
  }

  void call() { library_.call(kind_, in_.data(), out_.data(), count_); }

  // Data that nobody has written since the last call would still be in the cache of whoever read them.
  void callOnFreshInput() {
    bool rooted = kind_ == Kind::kBroadcast || kind_ == Kind::kScatter;
    if (kind_ != Kind::kAllReduce && kind_ != Kind::kBarrier && (!rooted || library_.rank == kRoot))
      std::fill(in_.begin(), in_.end(), kFresh);
    call();
  }

  // Runs batches that double until they are long, and gives the last one's time per call, the same on every rank.
  double warmUp(double nanos) {
    double spent = 0;
    for (long calls = 1;;) {
      std::vector<double> batch = {block(calls)};
      library_.maxOverRanks(batch);
      spent += batch[0];
      if (spent >= nanos) return std::max(1.0, batch[0] / calls);
      if (batch[0] < nanos / 8) calls *= 2;
    }
  }

  double block(long calls) {
    library_.barrier();
    double start = nowNanos();
    for (long i = 0; i < calls; i++) callOnFreshInput();
    return nowNanos() - start;
  }

  Library& library_;
  std::FILE* commands_ = nullptr;
  std::FILE* answers_ = nullptr;
  Kind kind_ = Kind::kNone;
  size_t count_ = 0;
  std::vector<float> in_;
  std::vector<float> out_;
};

}  // namespace peer
