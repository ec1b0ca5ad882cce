// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/jpeg_damage.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>

#include <jpeglib.h>

#include <jerror.h>  // numbers its messages by what jpeglib.h was built with

namespace mpm::vision {
namespace {

constexpr double kMaxPixels = 1 << 30;  // of OpenCV, which refuses a larger picture
// Pixels that no code was left for are more than this; cameras that write a few bytes too many have at most 8 or so.
constexpr int kMaxStray = 16;

// libjpeg's error manager, which notes what it is told. `base` stands first: libjpeg hands out a pointer to it.
struct Notes {
  jpeg_error_mgr base{};
  std::jmp_buf give_up{};
  const JOCTET* begin = nullptr;
  bool cut = false, damaged = false;
  std::array<char, JMSG_LENGTH_MAX> what{};  // of the first damage

  static Notes& of(j_common_ptr decoder) { return *reinterpret_cast<Notes*>(decoder->err); }

  void note(j_common_ptr decoder) {
    if (!damaged) base.format_message(decoder, what.data());
    damaged = true;
  }
};

// Bytes in front of a marker that were no part of a segment, but for padding.
std::ptrdiff_t strayBytes(const jpeg_decompress_struct& decoder, const Notes& notes) {
  const JOCTET* const end = decoder.src->next_input_byte;
  const std::ptrdiff_t count = std::min<std::ptrdiff_t>(decoder.err->msg_parm.i[0], end - notes.begin);
  return std::count_if(end - count, end, [](JOCTET byte) { return byte != 0 && byte != 0xff; });
}

void onMessage(j_common_ptr decoder, int level) {
  if (level >= 0) return;  // a trace, not a warning
  Notes& notes = Notes::of(decoder);
  switch (notes.base.msg_code) {
    case JWRN_JPEG_EOF:
      notes.cut = true;
      break;
    case JWRN_EXTRANEOUS_DATA: {
      const auto& picture = *reinterpret_cast<j_decompress_ptr>(decoder);
      const bool header = picture.input_scan_number == 0;
      if (!header && strayBytes(picture, notes) > kMaxStray) notes.note(decoder);
      break;
    }
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
      notes.note(decoder);
      break;
    default:  // unusual headers
      break;
  }
}

[[noreturn]] void onError(j_common_ptr decoder) {
  Notes& notes = Notes::of(decoder);
  notes.note(decoder);
  std::longjmp(notes.give_up, 1);
}

// Whether each component has a scan, and a progressive picture all its bits: scans that are lost as a whole.
bool hasAllScans(const jpeg_decompress_struct& decoder) {
  for (int i = 0; i < decoder.num_components; ++i) {
    if (!decoder.comp_info[i].quant_table) return false;
    if (!decoder.coef_bits) continue;
    const int* const bits = decoder.coef_bits[i];  // still to come, of each coefficient; -1: all of them
    if (bits[0] < 0 || std::any_of(bits, bits + DCTSIZE2, [](int left) { return left > 0; })) return false;
  }
  return true;
}

// Decodes at an eighth of the size: each code is read, and hardly anything is computed. Nothing here has a destructor,
// because longjmp() skips them.
void decode(jpeg_decompress_struct& decoder, Notes& notes, std::string_view jpeg) {
  if (setjmp(notes.give_up) != 0) return;
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&decoder, TRUE);
  if (static_cast<double>(decoder.image_width) * decoder.image_height > kMaxPixels) return;
  decoder.scale_num = 1;
  decoder.scale_denom = 8;
  decoder.out_color_space = decoder.jpeg_color_space;
  decoder.do_fancy_upsampling = FALSE;
  decoder.do_block_smoothing = FALSE;
  jpeg_start_decompress(&decoder);
  auto* const as_common = reinterpret_cast<j_common_ptr>(&decoder);
  JSAMPARRAY row = decoder.mem->alloc_sarray(
      as_common, JPOOL_IMAGE, decoder.output_width * static_cast<JDIMENSION>(decoder.output_components), 1);
  while (decoder.output_scanline < decoder.output_height) jpeg_read_scanlines(&decoder, row, 1);
  const bool whole = hasAllScans(decoder);
  jpeg_finish_decompress(&decoder);  // to the end marker
  if (!whole && !notes.damaged) {
    notes.damaged = true;
    std::snprintf(notes.what.data(), notes.what.size(), "a scan is missing");
  }
}

}  // namespace

std::string jpegDamage(std::string_view jpeg) {
  Notes notes;
  jpeg_decompress_struct decoder{};
  decoder.err = jpeg_std_error(&notes.base);
  notes.base.emit_message = onMessage;
  notes.base.error_exit = onError;
  notes.begin = reinterpret_cast<const JOCTET*>(jpeg.data());
  decode(decoder, notes, jpeg);
  jpeg_destroy_decompress(&decoder);
  if (notes.cut) return "the file is cut off before its end";
  return notes.damaged ? "its pixels are damaged (" + std::string(notes.what.data()) + ")" : "";
}

}  // namespace mpm::vision
