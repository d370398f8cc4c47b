/**
 * The findings of {@code ferro doctor} on this machine: cores, memory, devices, libraries, limits.
 *
 * <p>Start reading at {@code DoctorReport}. Nothing here changes anything.
 */
package ferro.launcher.doctor;
