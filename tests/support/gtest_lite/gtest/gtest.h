// SPDX-License-Identifier: Apache-2.0
// The part of GoogleTest that the tests of the GPU kernels use, for a machine without it. One header, one program: it
// brings main(), which runs every test, or those whose name contains the first argument.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace testing {

class Message {
 public:
  template <typename T>
  Message& operator<<(const T& value) {
    text_ << value;
    return *this;
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

struct State {
  bool failed = false, skipped = false;
  std::vector<std::string> traces;
};
inline State& state() {
  static State instance;
  return instance;
}

struct Trace {
  template <typename T>
  explicit Trace(const T& text) {
    state().traces.push_back((Message() << text).text());
  }
  explicit Trace(const Message& message) { state().traces.push_back(message.text()); }
  ~Trace() { state().traces.pop_back(); }
};

/// Failure(...) = Message() << more: prints where and what.
struct Failure {
  const char* file;
  int line;
  std::string what;
  void operator=(const Message& more) const {
    state().failed = true;
    std::cout << file << ":" << line << ": " << what << " " << more.text() << "\n";
    for (const std::string& trace : state().traces) std::cout << "  in " << trace << "\n";
  }
};
struct Skipped {
  void operator=(const Message& more) const {
    state().skipped = true;
    std::cout << "skipped: " << more.text() << "\n";
  }
};

class Test {
 public:
  virtual ~Test() = default;
  virtual void SetUp() {}
  virtual void TearDown() {}
  virtual void TestBody() = 0;
};

struct Entry {
  std::string name;
  std::function<std::unique_ptr<Test>()> make;
};
inline std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}
inline bool add(const char* suite, const char* name, std::function<std::unique_ptr<Test>()> make) {
  entries().push_back({std::string(suite) + "." + name, std::move(make)});
  return true;
}

template <typename T>
std::string shown(const T& value) {
  if constexpr (requires(std::ostream & out) { out << value; })
    return (Message() << value).text();
  else
    return "(a value)";
}

inline int runAll(const std::string& beginning) {
  int failed = 0, skipped = 0, ran = 0;
  for (const Entry& entry : entries()) {
    if (!entry.name.starts_with(beginning)) continue;
    state() = {};
    ++ran;
    try {
      const auto test = entry.make();
      test->SetUp();
      if (!state().skipped && !state().failed) test->TestBody();
      test->TearDown();
    } catch (const std::exception& error) {
      state().failed = true;
      std::cout << "exception: " << error.what() << "\n";
    }
    std::cout << (state().failed ? "FAILED  " : state().skipped ? "SKIPPED " : "OK      ") << entry.name << std::endl;
    failed += state().failed ? 1 : 0;
    skipped += state().skipped ? 1 : 0;
  }
  std::cout << ran << " tests, " << failed << " failed, " << skipped << " skipped\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace testing

#define MPM_LITE_TEST(suite, name, base)                                                                    \
  class suite##_##name : public base {                                                                      \
    void TestBody() override;                                                                               \
  };                                                                                                        \
  [[maybe_unused]] static const bool suite##_##name##_added =                                               \
      ::testing::add(#suite, #name, [] { return std::unique_ptr<::testing::Test>(new suite##_##name()); }); \
  void suite##_##name::TestBody()
#define TEST_F(suite, name) MPM_LITE_TEST(suite, name, suite)
#define TEST(suite, name) MPM_LITE_TEST(suite, name, ::testing::Test)

#define MPM_LITE_CHECK(holds, what, leave) \
  if (holds) {                             \
  } else                                   \
    leave ::testing::Failure{__FILE__, __LINE__, what} = ::testing::Message()
#define MPM_LITE_COMPARE(a, op, b, leave)                                                                             \
  MPM_LITE_CHECK((a)op(b), std::string(#a " " #op " " #b ": ") + ::testing::shown(a) + " and " + ::testing::shown(b), \
                 leave)
#define EXPECT_EQ(a, b) MPM_LITE_COMPARE(a, ==, b, )
#define EXPECT_NE(a, b) MPM_LITE_COMPARE(a, !=, b, )
#define EXPECT_LE(a, b) MPM_LITE_COMPARE(a, <=, b, )
#define EXPECT_LT(a, b) MPM_LITE_COMPARE(a, <, b, )
#define EXPECT_GE(a, b) MPM_LITE_COMPARE(a, >=, b, )
#define EXPECT_GT(a, b) MPM_LITE_COMPARE(a, >, b, )
#define ASSERT_EQ(a, b) MPM_LITE_COMPARE(a, ==, b, return )
#define ASSERT_NE(a, b) MPM_LITE_COMPARE(a, !=, b, return )
#define ASSERT_LE(a, b) MPM_LITE_COMPARE(a, <=, b, return )
#define ASSERT_LT(a, b) MPM_LITE_COMPARE(a, <, b, return )
#define ASSERT_GE(a, b) MPM_LITE_COMPARE(a, >=, b, return )
#define ADD_FAILURE() ::testing::Failure{__FILE__, __LINE__, "failure"} = ::testing::Message()
#define GTEST_SKIP() return ::testing::Skipped() = ::testing::Message()
#define MPM_LITE_NAME(a, b) a##b
#define MPM_LITE_NAMED(a, b) MPM_LITE_NAME(a, b)
#define SCOPED_TRACE(message) const ::testing::Trace MPM_LITE_NAMED(trace_, __LINE__)(message)
#define EXPECT_THROW(statement, type)      \
  MPM_LITE_CHECK(([&] {                    \
                   try {                   \
                     statement;            \
                   } catch (const type&) { \
                     return true;          \
                   }                       \
                   return false;           \
                 }()),                     \
                 #statement " does not throw " #type, )

// Weak, because every source of a test program includes this.
/// --gtest_filter=SUITE.* alone.
__attribute__((weak)) int main(int argc, char** argv) {
  const std::string_view option = "--gtest_filter=";
  std::string suite;
  if (argc > 1 && std::string_view(argv[1]).starts_with(option)) suite = argv[1] + option.size();
  if (suite.ends_with('*')) suite.pop_back();
  return testing::runAll(suite);
}
