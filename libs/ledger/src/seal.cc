#include "tidewatt/ledger/seal.h"

#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace tidewatt::ledger {
namespace {

constexpr std::string_view kFormat = "tidewatt seal 1";
constexpr std::int64_t kMonthsAYear = 12;
constexpr int kFirstYear = 1970;

void append_text(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '\t';
}

void append_number(std::int64_t n, std::string& out) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), n).ptr;
  out.append(buffer.data(), end);
  out += '\t';
}

/// Nearly all rows fit 64 bits; the same digits either way.
void append_number(WideMicrojoules n, std::string& out) {
  const auto narrow = static_cast<std::int64_t>(n.raw());
  if (narrow == n.raw()) return append_number(narrow, out);
  out += n.to_string();
  out += '\t';
}

}  // namespace

UtcHour Month::begin() const {
  const auto year = kFirstYear + static_cast<int>(n >= 0 ? n / kMonthsAYear : (n - 11) / kMonthsAYear);
  const auto month = static_cast<unsigned>(n - (year - kFirstYear) * kMonthsAYear) + 1;
  const std::chrono::year_month_day first{std::chrono::year{year}, std::chrono::month{month},
                                          std::chrono::day{1}};
  return UtcHour{std::chrono::sys_days{first}};
}

Month month_of(UtcHour hour) {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(hour)};
  return {(static_cast<int>(day.year()) - kFirstYear) * kMonthsAYear +
          static_cast<std::int64_t>(static_cast<unsigned>(day.month())) - 1};
}

std::string to_string(Month month) { return format_rfc3339(start_of(month.begin())).substr(0, 7); }

std::optional<Month> parse_month(std::string_view text) {
  if (text.size() != 7) return std::nullopt;
  const auto at = parse_rfc3339(std::string(text) + "-01T00:00:00Z");
  if (!at) return std::nullopt;
  return month_of(hour_of(*at));
}

void append_canonical(const HourlyRow& row, std::string& out) {
  append_text(row.key.cluster, out);
  append_text(to_string(row.key.scope), out);
  append_text(row.key.id, out);
  append_text(row.key.part, out);
  append_text(row.key.domain, out);
  append_number(static_cast<std::int64_t>(row.hour.time_since_epoch().count()), out);
  const auto& m = row.measures;
  for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
    append_number(energy, out);
  for (const auto time : {m.covered, m.gap, m.partial, m.shared_time})
    append_number(static_cast<std::int64_t>(time.count()), out);
  append_number(m.samples, out);
  out.back() = '\n';
}

struct SealHasher::Digest {
  struct Free {
    void operator()(EVP_MD_CTX* old) const { EVP_MD_CTX_free(old); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
  void update(std::string_view bytes) const {
    // Fails only without memory; a seal must not be made of half of its rows.
    if (EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1) std::abort();
  }
};

SealHasher::SealHasher(Month month, std::string_view previous) : digest_(std::make_unique<Digest>()) {
  if (EVP_DigestInit_ex(digest_->context.get(), EVP_sha256(), nullptr) != 1) std::abort();
  seal_.month = month;
  seal_.previous = previous;
  line_ = std::string(kFormat) + '\t' + to_string(month) + '\t' + seal_.previous + '\n';
  digest_->update(line_);
}
SealHasher::SealHasher(SealHasher&&) noexcept = default;
SealHasher& SealHasher::operator=(SealHasher&&) noexcept = default;
SealHasher::~SealHasher() = default;

void SealHasher::add(const HourlyRow& row) {
  line_.clear();
  append_canonical(row, line_);
  digest_->update(line_);
  ++seal_.rows;
  if (row.key.scope == Scope::node) seal_.energy += row.measures.energy;
}

Seal SealHasher::finish() {
  line_ = "rows\t" + std::to_string(seal_.rows) + '\n';
  digest_->update(line_);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(digest_->context.get(), bytes.data(), &size) != 1) std::abort();
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (unsigned i = 0; i < size; ++i) {
    seal_.hash += kDigits[bytes.at(i) >> 4U];
    seal_.hash += kDigits[bytes.at(i) & 0xFU];
  }
  return seal_;
}

}  // namespace tidewatt::ledger
