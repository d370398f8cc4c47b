/** The back end over TCP. Netty provides the sockets, and the engine provides the collectives. */
module ferro.backend.tcp {
    requires transitive ferro.spi;
    requires ferro.collectives;
    requires io.netty.buffer;
    requires io.netty.common;
    requires static io.netty.handler;
    requires io.netty.transport;
    requires io.netty.transport.classes.epoll;
    requires io.netty.transport.unix.common;

    exports ferro.backend.tcp;

    provides ferro.spi.BackendProvider with
            ferro.backend.tcp.TcpBackendProvider;
    provides ferro.spi.ControlLaneProvider with
            ferro.backend.tcp.TcpControlLaneProvider;
    provides ferro.spi.StoreProvider with
            ferro.backend.tcp.EnvStoreProvider,
            ferro.backend.tcp.ServingStoreProvider,
            ferro.backend.tcp.TcpStoreProvider;
}
