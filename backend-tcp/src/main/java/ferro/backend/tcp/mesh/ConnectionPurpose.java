package ferro.backend.tcp.mesh;

import ferro.spi.Transport;
import ferro.spi.Transport.Lane;

/** Purposes of data connections. The number of a purpose on the wire is its ordinal. */
public enum ConnectionPurpose {
    /** The link of {@link Lane#COLLECTIVE}. */
    COLLECTIVE,
    /** The link of {@link Lane#POINT_TO_POINT}. */
    POINT_TO_POINT,
    /**
     * The doorbell connection of {@link Transport#signal}. It is not a link. It is never encrypted, because its bytes
     * have no content.
     */
    BELL;

    /** Returns the purpose of the data connections of a lane. */
    public static ConnectionPurpose of(Lane lane) {
        return switch (lane) {
            case COLLECTIVE -> COLLECTIVE;
            case POINT_TO_POINT -> POINT_TO_POINT;
        };
    }

    /** Returns the name of the lane for messages. */
    public String label() {
        return this == COLLECTIVE ? "collective" : "point-to-point";
    }
}
