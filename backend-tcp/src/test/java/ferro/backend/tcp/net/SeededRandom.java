package ferro.backend.tcp.net;

import java.security.SecureRandom;
import java.util.SplittableRandom;

/** Nonces that a seed gives again; for tests. */
public final class SeededRandom extends SecureRandom {
    private static final long serialVersionUID = 1L;

    private final transient SplittableRandom random;

    public SeededRandom(SplittableRandom random) {
        this.random = random;
    }

    @Override
    public void nextBytes(byte[] bytes) {
        random.nextBytes(bytes);
    }
}
