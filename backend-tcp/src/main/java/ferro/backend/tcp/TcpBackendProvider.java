package ferro.backend.tcp;

import ferro.Backend;
import ferro.FerroException.Where;
import ferro.backend.tcp.mesh.RankArrays;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.NettyModules;
import ferro.collectives.CollectiveEngine;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/** Opens groups over TCP. */
public final class TcpBackendProvider implements BackendProvider {
    /** Identity of the joined group among the groups that use the same mesh. The identities of subgroups are hashes. */
    static final long WHOLE_GROUP = 0;

    /** Creates the provider without loading Netty; for {@link java.util.ServiceLoader}. */
    public TcpBackendProvider() {}

    @Override
    public String name() {
        return "tcp";
    }

    @Override
    public int priority() {
        return 50;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return NettyModules.unusable();
    }

    @Override
    public Backend create(GroupSpec group, RankContext context) {
        return NettyModules.with(Where.of(group.name(), group.rank()), () -> join(group, context));
    }

    private static Backend join(GroupSpec group, RankContext context) {
        TcpMesh mesh = TcpMesh.join(group, context);
        try {
            int[] everyone = RankArrays.all(group.worldSize());
            TcpTransport transport = new TcpTransport(mesh, WHOLE_GROUP, everyone, context::nanoTime);
            return CollectiveEngine.over(transport, group.withJoinTimeout(mesh.joinLeft()), context);
        } catch (RuntimeException | Error failure) {
            mesh.close();
            throw failure;
        }
    }
}
