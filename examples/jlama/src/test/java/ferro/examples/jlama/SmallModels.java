package ferro.examples.jlama;

/** Shapes of models that four ranks can share. */
final class SmallModels {
    private static final int HEADS = 8;

    private SmallModels() {}

    static ModelShape of(boolean isGrouped) {
        return new ModelShape(128, 256, 3, new ModelShape.HeadCounts(HEADS, isGrouped ? HEADS / 2 : HEADS), 160);
    }
}
