// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.ReduceOp;
import ferro.Work;

/**
 * The scans of {@link ProcessGroup} on arrays. Each form wraps the array without a copy and does the same as the form of
 * this name in {@link TensorForms}.
 */
abstract class ScanArrayForms extends AsyncArrayForms {
    ScanArrayForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Combines the arrays of the ranks 0 to r, in rank order, and writes the result in place into the array of rank r. The
     * elements are f32.
     * {@link ProcessGroup#scan(ferro.Tensor, ReduceOp) scan} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(float[] data, ReduceOp op) {
        run(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks 0 to r, in rank order, and writes the result in place into the array of rank r. The
     * elements are f64.
     * {@link ProcessGroup#scan(ferro.Tensor, ReduceOp) scan} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(double[] data, ReduceOp op) {
        run(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks 0 to r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i32.
     * {@link ProcessGroup#scan(ferro.Tensor, ReduceOp) scan} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(int[] data, ReduceOp op) {
        run(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks 0 to r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i64.
     * {@link ProcessGroup#scan(ferro.Tensor, ReduceOp) scan} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(long[] data, ReduceOp op) {
        run(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks 0 to r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i16.
     * {@link ProcessGroup#scan(ferro.Tensor, ReduceOp) scan} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(short[] data, ReduceOp op) {
        run(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks 0 to r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i8.
     * {@link ProcessGroup#scan(ferro.Tensor, ReduceOp) scan} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(byte[] data, ReduceOp op) {
        run(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks. The elements are f32.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(float[] data, ReduceOp op) {
        return submit(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks. The elements are f64.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(double[] data, ReduceOp op) {
        return submit(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks. The elements are i32.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(int[] data, ReduceOp op) {
        return submit(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks. The elements are i64.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(long[] data, ReduceOp op) {
        return submit(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks. The elements are i16.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(short[] data, ReduceOp op) {
        return submit(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks. The elements are i8.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(byte[] data, ReduceOp op) {
        return submit(Collective.scan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks before r, in rank order, and writes the result in place into the array of rank r. The
     * elements are f32.
     * {@link ProcessGroup#exclusiveScan(ferro.Tensor, ReduceOp) exclusiveScan} is the same on a tensor.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the array of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(float[] data, ReduceOp op) {
        run(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks before r, in rank order, and writes the result in place into the array of rank r. The
     * elements are f64.
     * {@link ProcessGroup#exclusiveScan(ferro.Tensor, ReduceOp) exclusiveScan} is the same on a tensor.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the array of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(double[] data, ReduceOp op) {
        run(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks before r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i32.
     * {@link ProcessGroup#exclusiveScan(ferro.Tensor, ReduceOp) exclusiveScan} is the same on a tensor.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the array of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(int[] data, ReduceOp op) {
        run(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks before r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i64.
     * {@link ProcessGroup#exclusiveScan(ferro.Tensor, ReduceOp) exclusiveScan} is the same on a tensor.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the array of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(long[] data, ReduceOp op) {
        run(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks before r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i16.
     * {@link ProcessGroup#exclusiveScan(ferro.Tensor, ReduceOp) exclusiveScan} is the same on a tensor.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the array of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(short[] data, ReduceOp op) {
        run(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of the ranks before r, in rank order, and writes the result in place into the array of rank r. The
     * elements are i8.
     * {@link ProcessGroup#exclusiveScan(ferro.Tensor, ReduceOp) exclusiveScan} is the same on a tensor.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the array of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(byte[] data, ReduceOp op) {
        run(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks. The elements are f32.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(float[] data, ReduceOp op) {
        return submit(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks. The elements are f64.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(double[] data, ReduceOp op) {
        return submit(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks. The elements are i32.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(int[] data, ReduceOp op) {
        return submit(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks. The elements are i64.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(long[] data, ReduceOp op) {
        return submit(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks. The elements are i16.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(short[] data, ReduceOp op) {
        return submit(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks. The elements are i8.
     *
     * @param data operand and result; the same length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(byte[] data, ReduceOp op) {
        return submit(Collective.exclusiveScan(of(requireNonNull(data, "data")), op));
    }
}
