package ferro.recorder;

import ferro.FerroException.Code;

/** A group that fails when a test says so. */
final class GroupOfTest implements RecordedGroup {
    volatile Failed failure;
    volatile Standing standing = Standing.IDLE;
    volatile long identity;
    /** Thrown once by whoever asks where it stands. */
    volatile Error broken;

    void fail(Code code, String culprits, String text) {
        failure = new Failed(code, 0, 17, culprits, text);
    }

    @Override
    public Failed failure() {
        return failure;
    }

    @Override
    public long identity() {
        return identity;
    }

    @Override
    public Standing standing() {
        Error thrown = broken;
        if (thrown != null) {
            broken = null;
            throw thrown;
        }
        return standing;
    }
}
