#include "tidewatt/slurm/wish.h"

#include <gtest/gtest.h>

namespace tidewatt::slurm {
namespace {

TEST(Wish, IsAWordOfTheComment) {
  EXPECT_EQ(wish_of("carbon:daily"), (Wish{k8s::Tolerance::daily, false}));
  EXPECT_EQ(wish_of("run 7, carbon:Weekly; thanks"), (Wish{k8s::Tolerance::weekly, false}));
  EXPECT_EQ(wish_of("carbon:monthly:requeue"), (Wish{k8s::Tolerance::monthly, true}));
  EXPECT_EQ(wish_of("carbon:daily:requeued"), (Wish{k8s::Tolerance::daily, false}));
  EXPECT_EQ(wish_of("carbon:immediate carbon:daily"), (Wish{k8s::Tolerance::immediate, false}));
}

TEST(Wish, OfOtherTextIsNone) {
  for (const auto* text :
       {"", "daily", "carbon:", "carbon: daily", "hydrocarbon:daily", "carbon:yearly", "CARBON:daily"})
    EXPECT_EQ(wish_of(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidewatt::slurm
