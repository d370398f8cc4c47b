/** Back end over TCP: sockets by a Netty of its own, in renamed packages. */
module ferro.backend.tcp {
    requires transitive ferro.spi;
    requires ferro.collectives;
    // what the renamed Netty needs
    requires java.logging;
    requires static jdk.jfr;
    requires jdk.unsupported;

    exports ferro.backend.tcp;

    uses ferro.shaded.io.netty.bootstrap.ChannelInitializerExtension;

    provides ferro.spi.BackendProvider with
            ferro.backend.tcp.TcpBackendProvider;
    provides ferro.spi.ControlLaneProvider with
            ferro.backend.tcp.TcpControlLaneProvider;
    provides ferro.spi.StoreProvider with
            ferro.backend.tcp.EnvStoreProvider,
            ferro.backend.tcp.ServingStoreProvider,
            ferro.backend.tcp.TcpStoreProvider;
}
