package ferro.backend.tcp;

import ferro.spi.Transport.Lane;

/** What a data connection carries; the place is the number on the wire. */
enum DataLane {
    /** {@link Lane#COLLECTIVE}. */
    COLLECTIVE,
    /** {@link Lane#POINT_TO_POINT}. */
    POINT_TO_POINT,
    /** No link: what {@link TcpTransport#ring} goes over. */
    BELL;

    static DataLane of(Lane lane) {
        return switch (lane) {
            case COLLECTIVE -> COLLECTIVE;
            case POINT_TO_POINT -> POINT_TO_POINT;
        };
    }
}
