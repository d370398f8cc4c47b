package ferro.recorder;

import ferro.FerroException.Code;

/** A group that fails when a test says so. */
final class GroupOfTest implements RecordedGroup {
    volatile Failed failure;
    volatile Standing standing = Standing.IDLE;

    void fail(Code code, String culprits, String text) {
        failure = new Failed(code, 0, 17, culprits, text);
    }

    @Override
    public Failed failure() {
        return failure;
    }

    @Override
    public Standing standing() {
        return standing;
    }
}
