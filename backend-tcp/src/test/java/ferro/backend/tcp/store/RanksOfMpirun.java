package ferro.backend.tcp.store;

import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.Threads;
import ferro.spi.GroupSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Ranks as mpirun starts them, which meet by a job file in the folder of the test. */
abstract class RanksOfMpirun {
    @TempDir
    Path folder;

    /** What ends with a test; ranks add to it from threads of their own. */
    final List<AutoCloseable> open = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable one : open.toArray(AutoCloseable[]::new)) {
            one.close();
        }
    }

    Map<String, String> mpirun(int rank, int size) {
        return Map.of(
                "OMPI_COMM_WORLD_RANK", "" + rank,
                "OMPI_COMM_WORLD_SIZE", "" + size,
                "OMPI_COMM_WORLD_LOCAL_RANK", "" + rank,
                "OMPI_COMM_WORLD_LOCAL_SIZE", "" + size,
                "FERRO_JOB_ID", "key",
                "ferro.job.dir", folder.toString());
    }

    CompletableFuture<TcpMesh> join(GroupSpec spec, JoiningContext context) {
        return Threads.start(() -> {
            TcpMesh mesh = TcpMesh.join(spec, context);
            open.add(0, mesh::close);
            return mesh;
        });
    }
}
