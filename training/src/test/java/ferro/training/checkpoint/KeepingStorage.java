package ferro.training.checkpoint;

/** A storage that deletes nothing, with the four calls that every one has. */
final class KeepingStorage extends ForwardingStorage {
    KeepingStorage(CheckpointStorage storage) {
        super(storage);
    }

    @Override
    public String toString() {
        return "a store that keeps all";
    }
}
