package ferro.backend.gloofallback;

import ferro.DeviceTensor;
import java.util.function.ObjIntConsumer;

/**
 * A mapping of parts of a device tensor to parts of staging memory.
 *
 * @param tensor device memory of one or more parts
 * @param first  index of the staging part that belongs to the tensor's first part
 * @param count  number of parts of the tensor
 * @param left   index of the staging part that is not copied, or -1
 */
record StagingMapping(DeviceTensor tensor, int first, int count, int left) {
    /**
     * Calls {@code copy} for each copy of a piece, with the device memory and the index of the first element in the
     * staging memory. Adjacent parts are one copy if these parts are also adjacent on the device.
     */
    void copies(PieceLayout cut, long piece, ObjIntConsumer<DeviceTensor> copy) {
        int length = cut.length(piece);
        boolean sideBySide = length == cut.partElements();
        int part = 0;
        while (part < count && length > 0) {
            if (first + part == left) {
                part++;
                continue;
            }
            int end = part + 1;
            while (sideBySide && end < count && first + end != left) {
                end++;
            }
            long from = part * cut.partElements() + cut.from(piece);
            copy.accept(tensor.slice(from, (long) (end - part) * length), (first + part) * length);
            part = end;
        }
    }
}
