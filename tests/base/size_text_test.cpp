// SPDX-License-Identifier: Apache-2.0
#include "base/size_text.h"

#include "support/throws_with.h"

namespace mpm {
namespace {

TEST(SizeText, HeightComesFirst) {
  EXPECT_EQ(parseSize("448x640"), (Size2{448, 640}));
  EXPECT_EQ(toString(Size2{448, 640}), "448x640");
}

TEST(SizeText, ForPeopleItSaysItsOrder) {
  EXPECT_EQ(sizeText({448, 640}), "640 x 448 px (width x height)");
  EXPECT_EQ(sizeText({28, 40}, "patches"), "40 x 28 patches (width x height)");
}

TEST(SizeText, RefusesWhatIsNoSize) {
  for (const char* bad : {"", "640", "640x", "x448", "640x448x3", "0x16", "-16x16", "16x0", "640x448 ", " 640x448",
                          "+16x16", "640X448", "99999999999x1"})
    EXPECT_MPM_ERROR(parseSize(bad), "'" + std::string(bad) + "' is not a size: write HEIGHTxWIDTH");
}

}  // namespace
}  // namespace mpm
