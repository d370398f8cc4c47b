package ferro.backend.tcp.mesh;

import ferro.spi.Transport;
import ferro.spi.Transport.Lane;

/** Purposes of data connections. The number of a purpose on the wire is its ordinal. */
public enum ConnectionPurpose {
    /** The link of {@link Lane#COLLECTIVE}. */
    COLLECTIVE,
    /** The link of {@link Lane#POINT_TO_POINT}. */
    POINT_TO_POINT,
    /** The connection of {@link Transport#signal}: not a link, and never encrypted, because it has no content. */
    BELL;

    /** Returns the data lane of a lane of the engine. */
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
