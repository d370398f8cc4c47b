package ferro.backend.tcp;

import ferro.FerroException.Where;
import ferro.backend.tcp.mesh.RankArrays;
import ferro.backend.tcp.mesh.TcpControlLane;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.NettyModules;
import ferro.spi.ControlLane;
import ferro.spi.ControlLaneProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/** Opens control lanes over TCP, for back ends that need no data links. */
public final class TcpControlLaneProvider implements ControlLaneProvider {
    /** Creates the provider without loading Netty; for {@link java.util.ServiceLoader}. */
    public TcpControlLaneProvider() {}

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return NettyModules.unusable();
    }

    @Override
    public ControlLane open(GroupSpec group, RankContext context) {
        return NettyModules.with(
                Where.of(group.name(), group.rank()),
                () -> new TcpControlLane(
                        TcpMesh.join(group, context),
                        TcpBackendProvider.WHOLE_GROUP,
                        RankArrays.all(group.worldSize())));
    }
}
