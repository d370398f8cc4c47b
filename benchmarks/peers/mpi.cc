// Open MPI or MPICH as a contestant. usage, by their own launcher: mpi FOLDER
#include <mpi.h>

#include "peer.h"

using peer::Kind;

class Mpi : public peer::Library {
 public:
  Mpi() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }

  void call(Kind kind, float* in, float* out, size_t elements) override {
    int count = static_cast<int>(elements), part = count / ranks;
    MPI_Comm world = MPI_COMM_WORLD;
    switch (kind) {
      case Kind::kAllReduce: MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_FLOAT, MPI_SUM, world); break;
      case Kind::kBroadcast: MPI_Bcast(in, count, MPI_FLOAT, peer::kRoot, world); break;
      case Kind::kReduce: MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, peer::kRoot, world); break;
      case Kind::kAllGather: MPI_Allgather(in, part, MPI_FLOAT, out, part, MPI_FLOAT, world); break;
      case Kind::kReduceScatter: MPI_Reduce_scatter_block(in, out, part, MPI_FLOAT, MPI_SUM, world); break;
      case Kind::kGather: MPI_Gather(in, part, MPI_FLOAT, out, part, MPI_FLOAT, peer::kRoot, world); break;
      case Kind::kScatter: MPI_Scatter(in, part, MPI_FLOAT, out, part, MPI_FLOAT, peer::kRoot, world); break;
      case Kind::kAllToAll: MPI_Alltoall(in, part, MPI_FLOAT, out, part, MPI_FLOAT, world); break;
      default: MPI_Barrier(world);
    }
  }

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

  void maxOverRanks(std::vector<double>& values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: mpi FOLDER\n");
    return 2;
  }
  Mpi mpi;
  peer::Server(mpi, argv[1]).run();
  MPI_Finalize();
  return 0;
}
